import { createHash } from 'node:crypto';
import { isObject } from '../../platform/json.ts';

/** Returns JSON text with the keys of every object sorted, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

/** Returns the `graph_checksum`: the SHA-256 of the canonical JSON, in hex. */
export function checksum(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
