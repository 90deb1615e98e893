/**
 * Since when the steps of a run that could not begin at once wait for a slot. While there are slots enough it holds
 * nothing and costs nothing.
 */
export class SlotWaits {
  #since: Map<string, number> | null = null;

  /** The step begins: for how long it waited, in ms. */
  started(step: string, now: number): number {
    const since = this.#since?.get(step);
    if (since === undefined) return 0;
    this.#since?.delete(step);
    return Math.max(0, now - since);
  }

  /** These could begin and have no slot. */
  left(ready: ReadonlySet<string>, now: number): void {
    this.#since ??= new Map();
    // Those that began were taken out: where the sizes agree, nothing has become ready.
    if (this.#since.size === ready.size) return;
    for (const step of ready) if (!this.#since.has(step)) this.#since.set(step, now);
  }

  /** Nothing waits for a slot: none is ready, or the run does not advance. */
  clear(): void {
    this.#since = null;
  }
}
