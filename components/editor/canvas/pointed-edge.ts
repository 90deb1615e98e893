/**
 * The hovered connection. It is not React state of the canvas, so that a change redraws only the two affected connections, of perhaps
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

  /**
   * Handles a pointer that left a connection or its buttons for `to`. The connection and its buttons count as one area.
   */
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
