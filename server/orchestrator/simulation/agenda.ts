/** Virtual time: what is to happen when, in ms. Things due at the same time happen in the order in which they were planned. */
export class Agenda {
  now = 0;
  #items: { at: number; act: () => void }[] = [];

  after(delay: number, act: () => void): void {
    const at = this.now + Math.max(0, delay);
    // Kept in order, latest first. An agenda holds a few dozen items, where shifting them beats a heap.
    let index = this.#items.length;
    while (index > 0 && (this.#items[index - 1]?.at ?? 0) <= at) index -= 1;
    this.#items.splice(index, 0, { at, act });
  }

  /** Does the next thing; false when there is nothing left to do. */
  step(): boolean {
    const next = this.#items.pop();
    if (next === undefined) return false;
    this.now = next.at;
    next.act();
    return true;
  }
}
