const KEY = 'baton:recent-steps';
const MAX = 6;

/** Returns the types of the steps that were added last in this browser, the latest first. */
export function readRecentTypes(): string[] {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(each => typeof each === 'string').slice(0, MAX) : [];
  } catch {
    return [];
  }
}

/** Notes that a step of this type was added. */
export function keepRecentType(type: string): void {
  try {
    const types = [type, ...readRecentTypes().filter(each => each !== type)].slice(0, MAX);
    window.localStorage.setItem(KEY, JSON.stringify(types));
  } catch {
    // A browser that refuses storage shows no recent steps.
  }
}
