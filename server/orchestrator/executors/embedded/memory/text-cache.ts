/** JSON texts by id, limited in their total length; the least recently used are dropped first. */
export class TextCache {
  readonly #limit: number;
  readonly #texts = new Map<string, string>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The length of all texts together. */
  get size(): number {
    return this.#size;
  }

  get(id: string): string | undefined {
    const text = this.#texts.get(id);
    if (text === undefined) return undefined;
    this.#texts.delete(id);
    this.#texts.set(id, text);
    return text;
  }

  /** A text longer than the limit is not kept. */
  put(id: string, text: string): void {
    if (this.#texts.has(id) || text.length > this.#limit) return;
    this.#texts.set(id, text);
    this.#size += text.length;
    for (const [oldest, dropped] of this.#texts) {
      if (this.#size <= this.#limit) return;
      this.#texts.delete(oldest);
      this.#size -= dropped.length;
    }
  }
}
