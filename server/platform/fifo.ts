/** First in, first out in O(1), amortized; an array's own shift moves all its elements. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Puts the item before all others. */
  unshift(item: T): void {
    if (this.#head === 0) {
      this.#items.unshift(item);
      return;
    }
    this.#head -= 1;
    this.#items[this.#head] = item;
  }

  /** Returns the first item and leaves it in place. */
  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    if (this.#head + 1 >= this.#items.length) return this.#takeLast();
    const item = this.#items[this.#head];
    this.#head += 1;
    if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Keeps the array's memory, which setting its length to 0 would release: most queues of a tenant have one item at a time. */
  #takeLast(): T | undefined {
    const item = this.#items.pop();
    if (this.#head > 0) {
      this.#items.length = 0;
      this.#head = 0;
    }
    return item;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let at = this.#head; at < this.#items.length; at += 1) {
      const item = this.#items[at];
      if (item !== undefined) yield item;
    }
  }
}
