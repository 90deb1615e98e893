type Item = { at: number; act: () => void; background: boolean };

/** Virtual time: what is to happen when, in ms. Things due at the same time happen in the order in which they were planned. */
export class Agenda {
  now = 0;
  /** Things that have happened. */
  steps = 0;
  #items: Item[] = [];
  #foreground = 0;

  /** Something besides what happens in the background is still to happen. */
  get busy(): boolean {
    return this.#foreground > 0;
  }

  /**
   * Returns how to call it off. What happens in the `background` recurs for ever (the checks of a session, the attempts of a
   * standby), and does not by itself keep the world from being at rest.
   */
  after(delay: number, act: () => void, background = false): () => void {
    const at = this.now + Math.max(0, Math.ceil(delay));
    const item: Item = { at, act, background };
    // Kept in order, latest first. An agenda holds a few dozen items, where shifting them beats a heap.
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

  /** Does the next thing; false when there is nothing left to do. */
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
