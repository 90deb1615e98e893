/** An error at run time in an expression. The message is for the author of the expression. */
export class CelError extends Error {
  readonly code: 'expression_failed' | 'expression_too_costly';
  constructor(message: string, code: CelError['code'] = 'expression_failed') {
    super(message);
    this.name = 'CelError';
    this.code = code;
  }
}
