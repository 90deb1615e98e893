/** The reason why a memory tool did not do what a model wanted; the model receives it. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
