/**
 * Returns the text that is stored in this browser under a key; empty if there is none, or if the browser refuses
 * storage.
 */
export function readText(key: string): string {
  try {
    return window.localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

/** Returns the JSON that is stored in this browser under a key; null if there is none or it is invalid. */
export function readStored(key: string): unknown {
  try {
    return JSON.parse(readText(key));
  } catch {
    return null;
  }
}

/**
 * Stores a value as JSON in this browser. A browser that is full or refuses storage stores nothing, and the page works without the value.
 */
export function store(key: string, value: unknown): void {
  try {
    window.localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Nothing is stored.
  }
}
