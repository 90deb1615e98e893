type Item = { at: number; action: () => void; background: boolean };

/**
 * Virtual time in ms, with the planned actions. Actions due at the same time run in the order in which they were
 * planned.
 */
export class Agenda {
  now = 0;
  /** The number of actions that have run. Background work counts a tenth: nodes look at each other for as long as a run waits. */
  steps = 0;
  #items: Item[] = [];
  #foreground = 0;

  /** Whether any action other than background work is still planned. */
  get busy(): boolean {
    return this.#foreground > 0;
  }

  /**
   * Plans `action` and returns a function that cancels it. `background` marks actions that recur forever (the checks of
   * a session, the attempts of a standby): a world with only these is at rest.
   */
  after(delay: number, action: () => void, background = false): () => void {
    const at = this.now + Math.max(0, Math.ceil(delay));
    const item: Item = { at, action, background };
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

  /** Runs the next action. Returns false if none is planned. */
  step(): boolean {
    const next = this.#items.pop();
    if (next === undefined) return false;
    if (!next.background) this.#foreground -= 1;
    this.now = next.at;
    this.steps += next.background ? 0.1 : 1;
    next.action();
    return true;
  }
}
