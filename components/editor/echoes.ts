/**
 * Tells a text that comes back from whoever was told of it from one that somebody else puts in its place. While a page renders slowly,
 * the text comes back after the next key was pressed; to put it into the editor then would undo that key.
 */
export class Echoes {
  /** What was told and has not come back, oldest first. */
  readonly #told: string[] = [];

  /** The editor says that its text is now this one. */
  tell(text: string): void {
    this.#told.push(text);
  }

  /** Whether `text` is one that was told; it and those before it are then forgotten, as are all where it is another's. */
  hears(text: string): boolean {
    const at = this.#told.indexOf(text);
    this.#told.splice(0, at < 0 ? this.#told.length : at + 1);
    return at >= 0;
  }
}
