import { Environment } from '@marcbachmann/cel-js';

/** An expression that does not parse or names something that does not exist; the message says where. */
export class CelSyntaxError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'CelSyntaxError';
    this.offset = offset;
  }
}

export const MAX_EXPRESSION_LENGTH = 4_096;

/** A node of the syntax tree of cel-js. The content of `args` depends on `op`. */
export type Node = { op: string; args: unknown; pos: number };

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  limits: { maxAstNodes: 2_000, maxDepth: 64, maxListElements: 1_000, maxMapEntries: 1_000, maxCallArguments: 8 },
});

/** Parses an expression into its syntax tree. Throws CelSyntaxError. */
export function parse(text: string): Node {
  if (text.length > MAX_EXPRESSION_LENGTH) {
    throw new CelSyntaxError(
      `an expression may have at most ${MAX_EXPRESSION_LENGTH} characters`,
      MAX_EXPRESSION_LENGTH,
    );
  }
  try {
    return environment.parse(text).ast as Node;
  } catch (error) {
    throw asSyntaxError(error);
  }
}

/** Returns an error of the parser or the compiler as a CelSyntaxError, with its position in the expression. */
export function asSyntaxError(error: unknown): CelSyntaxError {
  if (error instanceof CelSyntaxError) return error;
  if (error instanceof RangeError) return new CelSyntaxError('the expression is nested too deeply', 0);
  // The parser adds a drawing of the position after the first line.
  const message = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'the expression does not parse';
  const offset = typeof error === 'object' && error !== null && 'range' in error ? rangeStart(error.range) : 0;
  return new CelSyntaxError(`${message} at character ${offset + 1}`, offset);
}

function rangeStart(range: unknown): number {
  return typeof range === 'object' && range !== null && 'start' in range && typeof range.start === 'number'
    ? range.start
    : 0;
}
