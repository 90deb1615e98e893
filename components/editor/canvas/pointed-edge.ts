/**
 * The connection that is pointed at. Not state of the canvas: only the two connections that it concerns are drawn again, of perhaps
 * thousands.
 */
export class PointedEdge {
  readonly #listeners = new Set<() => void>();
  #id: string | null = null;

  get id(): string | null {
    return this.#id;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  enter(id: string): void {
    this.#set(id);
  }

  /** The pointer left a connection, or the tools of one, for `to`: both belong together. */
  leave(id: string, to: EventTarget | null): void {
    const parts = `[data-id="${CSS.escape(id)}"].react-flow__edge, [data-edge-tools="${CSS.escape(id)}"]`;
    const stays = to instanceof Element && to.closest(parts) !== null;
    if (!stays && this.#id === id) this.#set(null);
  }

  #set(id: string | null): void {
    if (id === this.#id) return;
    this.#id = id;
    for (const listener of this.#listeners) listener();
  }
}
