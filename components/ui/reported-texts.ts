/**
 * Distinguishes a text that a field reported, and that its owner passes back, from another text that replaces it.
 * While a page renders slowly, the reported text comes back after the next key was pressed; writing it to the field
 * then would undo that key.
 */
export class ReportedTexts {
  /** The texts that the field has reported and that have not come back yet, oldest first. */
  readonly #texts: string[] = [];

  /** Records a text that the field reports. */
  report(text: string): void {
    this.#texts.push(text);
  }

  /** Returns whether the field reported `text`. If so, forgets it and the texts before it; otherwise forgets all. */
  isReported(text: string): boolean {
    const at = this.#texts.indexOf(text);
    this.#texts.splice(0, at < 0 ? this.#texts.length : at + 1);
    return at >= 0;
  }
}
