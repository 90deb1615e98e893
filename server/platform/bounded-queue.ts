/** A queue that holds at most `limit` bytes of items. After an overflow it yields nothing more, because its reader has missed an item. */
export class BoundedQueue<T> {
  readonly #limit: number;
  #items: { item: T; bytes: number }[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an item. If the item exceeds the limit, returns false, ends the queue and discards the waiting items. */
  push(item: T, bytes: number): boolean {
    if (this.#ended) return true;
    if (this.#bytes + bytes > this.#limit) {
      this.#items = [];
      this.end();
      return false;
    }
    this.#items.push({ item, bytes });
    this.#bytes += bytes;
    this.#wake();
    return true;
  }

  /** Ends the queue once the waiting items have been taken. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Yields the items until the queue has ended. Only one reader may iterate. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      const next = this.#items.shift();
      if (next !== undefined) {
        this.#bytes -= next.bytes;
        yield next.item;
      } else if (this.#ended) return;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    }
  }
}
