type Item = { at: number; act: () => void; background: boolean };

/**
 * Virtual time: what is to happen at which ms. Events due at the same time happen in the order
 * in which they were planned.
 */
export class Agenda {
  now = 0;
  /** The number of things that have happened. */
  steps = 0;
  #items: Item[] = [];
  #foreground = 0;

  /** Whether anything other than background work is still to happen. */
  get busy(): boolean {
    return this.#foreground > 0;
  }

  /**
   * Plans `act` and returns a function that cancels it. `background` is for what recurs forever (the checks of a
   * session, the attempts of a standby): it alone does not keep the world from being at rest.
   */
  after(delay: number, act: () => void, background = false): () => void {
    const at = this.now + Math.max(0, Math.ceil(delay));
    const item: Item = { at, act, background };
    // Sorted, latest first. An agenda holds a few dozen items, for which shifting beats a heap.
    let index = this.#items.length;
    while (index > 0 && (this.#items[index - 1]?.at ?? 0) <= at) index -= 1;
    this.#items.splice(index, 0, item);
    if (!background) this.#foreground += 1;
    return () => {
      const place = this.#items.indexOf(item);
      if (place < 0) return;
      this.#items.splice(place, 1);
      if (!background) this.#foreground -= 1;
    };
  }

  /** Does what is due next; returns false if nothing is left to do. */
  step(): boolean {
    const next = this.#items.pop();
    if (next === undefined) return false;
    if (!next.background) this.#foreground -= 1;
    this.now = next.at;
    this.steps += 1;
    next.act();
    return true;
  }
}
