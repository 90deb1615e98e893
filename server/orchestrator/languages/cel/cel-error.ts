/** A run-time error of an expression; the message is for its author. */
export class CelError extends Error {
  readonly code: 'expression_failed' | 'expression_too_costly';
  constructor(message: string, code: CelError['code'] = 'expression_failed') {
    super(message);
    this.name = 'CelError';
    this.code = code;
  }
}
