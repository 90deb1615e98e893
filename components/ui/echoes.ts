/**
 * Distinguishes a text that a field reported, and that its owner passes back, from another text that replaces it.
 * While a page renders slowly, the reported text comes back after the next key was pressed; writing it to the field
 * then would undo that key.
 */
export class Echoes {
  /** The texts that the field has reported and that have not come back yet, oldest first. */
  readonly #told: string[] = [];

  /** The field says that its text is now this one. */
  tell(text: string): void {
    this.#told.push(text);
  }

  /** Returns whether the field reported `text`. If so, forgets it and the texts before it; otherwise forgets all. */
  hears(text: string): boolean {
    const at = this.#told.indexOf(text);
    this.#told.splice(0, at < 0 ? this.#told.length : at + 1);
    return at >= 0;
  }
}
