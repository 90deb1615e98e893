/**
 * The ancestors (transitive dependencies) of every step of a graph, one bit per pair: a chain of 2,000 steps takes
 * 500 KB instead of the two million set entries that a Set per step would hold.
 */
export class AncestorIndex {
  readonly #order: readonly string[];
  readonly #position: ReadonlyMap<string, number>;
  readonly #rows: readonly Uint32Array[];

  /** `order` lists dependencies before dependents; `dependencies` gives a step's direct ones. */
  constructor(order: readonly string[], dependencies: (step: string) => readonly string[]) {
    this.#order = order;
    this.#position = new Map(order.map((id, position) => [id, position]));
    const words = Math.ceil(order.length / 32);
    const rows: Uint32Array[] = [];
    for (const id of order) {
      const row = new Uint32Array(words);
      for (const dependency of dependencies(id)) {
        const at = this.#position.get(dependency) ?? 0;
        merge(row, rows[at]);
        row[at >>> 5] = (row[at >>> 5] ?? 0) | (1 << (at & 31));
      }
      rows.push(row);
    }
    this.#rows = rows;
  }

  /** Returns a read-only view without copying anything. Throws an Error for an unknown step. */
  of(step: string): ReadonlySet<string> {
    const position = this.#position.get(step);
    const row = position === undefined ? undefined : this.#rows[position];
    if (row === undefined) throw new Error(`The graph has no step "${step}".`);
    return new AncestorSet(this.#order, this.#position, row);
  }
}

function merge(into: Uint32Array, from: Uint32Array | undefined): void {
  if (from === undefined) return;
  for (let word = 0; word < into.length; word++) into[word] = (into[word] ?? 0) | (from[word] ?? 0);
}

class AncestorSet implements ReadonlySet<string> {
  readonly #order: readonly string[];
  readonly #position: ReadonlyMap<string, number>;
  readonly #row: Uint32Array;

  constructor(order: readonly string[], position: ReadonlyMap<string, number>, row: Uint32Array) {
    this.#order = order;
    this.#position = position;
    this.#row = row;
  }

  get size(): number {
    let size = 0;
    for (const _ of this) size++;
    return size;
  }

  has(step: string): boolean {
    const at = this.#position.get(step);
    return at !== undefined && ((this.#row[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0;
  }

  *values(): SetIterator<string> {
    for (let word = 0; word < this.#row.length; word++) {
      for (let bits = this.#row[word] ?? 0; bits !== 0; bits &= bits - 1) {
        const id = this.#order[word * 32 + (31 - Math.clz32(bits & -bits))];
        if (id !== undefined) yield id;
      }
    }
    return undefined;
  }

  keys(): SetIterator<string> {
    return this.values();
  }

  *entries(): SetIterator<[string, string]> {
    for (const id of this) yield [id, id];
    return undefined;
  }

  [Symbol.iterator](): SetIterator<string> {
    return this.values();
  }

  forEach(visit: (value: string, key: string, set: ReadonlySet<string>) => void, self?: unknown): void {
    for (const id of this) visit.call(self, id, id, this);
  }
}
