/** Why a tool of memory did not do what a model wanted; the model is told. */
export class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
