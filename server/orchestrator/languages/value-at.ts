import type { JsonValue } from '../core/index.ts';

/** Returns the value at a path such as `items[0].name`, or undefined. An empty path returns the whole value. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  const names = path
    .replaceAll(/\[(\d{1,9})\]/g, '.$1')
    .split('.')
    .filter(name => name !== '');
  let now: JsonValue | undefined = value;
  for (const name of names) {
    if (typeof now !== 'object' || now === null) return undefined;
    if (Array.isArray(now)) now = /^\d{1,9}$/.test(name) ? now[Number(name)] : undefined;
    else now = Object.hasOwn(now, name) ? now[name] : undefined;
  }
  return now;
}
