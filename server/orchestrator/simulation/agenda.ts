/** Virtual time: what is to happen when, in ms. Things due at the same time happen in the order in which they were planned. */
export class Agenda {
  now = 0;
  /** Things that have happened. */
  steps = 0;
  #items: { at: number; act: () => void }[] = [];

  /** Returns how to call it off. */
  after(delay: number, act: () => void): () => void {
    const at = this.now + Math.max(0, Math.ceil(delay));
    const item = { at, act };
    // Kept in order, latest first. An agenda holds a few dozen items, where shifting them beats a heap.
    let index = this.#items.length;
    while (index > 0 && (this.#items[index - 1]?.at ?? 0) <= at) index -= 1;
    this.#items.splice(index, 0, item);
    return () => {
      const place = this.#items.indexOf(item);
      if (place >= 0) this.#items.splice(place, 1);
    };
  }

  /** Does the next thing; false when there is nothing left to do. */
  step(): boolean {
    const next = this.#items.pop();
    if (next === undefined) return false;
    this.now = next.at;
    this.steps += 1;
    next.act();
    return true;
  }
}
