/**
 * Items that one side adds and the other takes in order, at most `limit` bytes of them waiting. A queue that has overflowed hands
 * out nothing more: its reader has missed something.
 */
export class BoundedQueue<T> {
  readonly #limit: number;
  #items: { item: T; bytes: number }[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an item. Returns false if it would be more than may wait: then the queue has ended, and what waited is gone. */
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

  /** Ends the queue once what waits has been taken. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Yields the items until the queue has ended. For one reader. */
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
