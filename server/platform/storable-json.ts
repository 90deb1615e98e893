/**
 * The maximum depth of arrays and objects, in requests as well. PostgreSQL's jsonb parser is recursive; values that
 * people write are nested ten levels deep, not a hundred.
 */
export const MAX_JSON_DEPTH = 100;

export type StorageProblem = { path: string; message: string };

/**
 * Returns the first part of a JSON value that jsonb cannot store: a NUL or half a surrogate pair in a string or
 * key, a number that is not finite, or nesting deeper than 100; null if there is none. Iterative, so that no
 * depth overflows the stack.
 */
export function storageProblem(root: unknown): StorageProblem | null {
  const stack: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 0 }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { value, path, depth } = item;
    if (typeof value === 'string' && !isStorableText(value)) {
      return { path, message: 'must be well-formed text without NUL' };
    }
    if (typeof value === 'number' && !Number.isFinite(value)) return { path, message: 'must be a finite number' };
    if (typeof value !== 'object' || value === null) continue;
    if (depth >= MAX_JSON_DEPTH) return { path, message: `must not be nested deeper than ${MAX_JSON_DEPTH}` };
    for (const key of Object.keys(value)) {
      const child = (value as Record<string, unknown>)[key];
      const childPath = path === '' ? key : `${path}.${key}`;
      if (!isStorableText(key)) return { path, message: 'has a key that is not well-formed text without NUL' };
      stack.push({ value: child, path: childPath, depth: depth + 1 });
    }
  }
  return null;
}

function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
