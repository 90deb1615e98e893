type Entries<V> = Map<string, { value: V; bytes: number }>;

/**
 * A cache that is bounded in bytes: what was not used for longest goes first. It keeps two generations of half the bytes
 * each; a hit in the younger one costs a single look-up (an LRU list would cost three operations on a map for each hit), a
 * hit in the older one moves the entry. So the entries used last, up to half of `maxBytes`, are always there.
 */
export class ByteCache<V> {
  readonly #half: number;
  #young: Entries<V> = new Map();
  #old: Entries<V> = new Map();
  #youngBytes = 0;
  #oldBytes = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  /** Bytes of all entries, by what `set` was told; never more than `maxBytes`. */
  get bytes(): number {
    return this.#youngBytes + this.#oldBytes;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young.value;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.set(key, old.value, old.bytes);
    return old.value;
  }

  /** Keeps a value. `bytes` is what it takes with its key; one that takes more than half of the cache is not kept. */
  set(key: string, value: V, bytes: number): void {
    this.#forget(key);
    if (bytes > this.#half) return;
    if (this.#youngBytes + bytes > this.#half) {
      this.#old = this.#young;
      this.#oldBytes = this.#youngBytes;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(key, { value, bytes });
    this.#youngBytes += bytes;
  }

  #forget(key: string): void {
    this.#youngBytes -= this.#young.get(key)?.bytes ?? 0;
    this.#young.delete(key);
    this.#oldBytes -= this.#old.get(key)?.bytes ?? 0;
    this.#old.delete(key);
  }
}

const OBJECT_BYTES = 56;
const SLOT_BYTES = 16;

/** About what a JSON value takes in memory. Iterative, so that no depth overflows the stack. */
export function bytesInMemory(root: unknown): number {
  let bytes = 0;
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'string') bytes += SLOT_BYTES + 2 * value.length;
    else if (Array.isArray(value)) {
      bytes += OBJECT_BYTES + SLOT_BYTES * value.length;
      for (const item of value) stack.push(item);
    } else if (typeof value === 'object' && value !== null) {
      bytes += OBJECT_BYTES;
      for (const [key, item] of Object.entries(value)) {
        bytes += SLOT_BYTES + 2 * key.length;
        stack.push(item);
      }
    } else bytes += SLOT_BYTES;
  }
  return bytes;
}
