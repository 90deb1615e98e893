import { ByteCache } from '../../../platform/byte-cache.ts';
import { CACHE_LIMITS } from '../../cache-limits.ts';
import { type CelScope, Compiler, type Run } from './compiler.ts';
import { asSyntaxError, parse } from './syntax.ts';
import type { CelValue } from './values.ts';

/**
 * CEL expressions over `input` and `steps` (decisions.md, Steps). The syntax is parsed by cel-js; its evaluator is not
 * used, since it rejects mixed int and double, has no limit on work and runs `matches` on the backtracking engine. The
 * syntax tree is compiled to closures once (~0.3 µs an evaluation; the library's own takes ~2).
 */
export type Expression = {
  /** Ids of the steps named literally, as in `steps.a` or `steps["a"]`. */
  readonly steps: ReadonlySet<string>;
  /** Throws CelError. */
  evaluate(scope: CelScope): CelValue;
};

/** ~2 ms at worst, so that no expression can stall the event loop for other runs. */
const BUDGET = 50_000;

function compileExpression(text: string): Expression {
  const compiler = new Compiler();
  let run: Run;
  try {
    run = compiler.compile(parse(text));
  } catch (error) {
    throw asSyntaxError(error);
  }
  return {
    steps: compiler.steps,
    evaluate: scope => run({ scope, budget: { left: BUDGET }, locals: [] }),
  };
}

/** Compiled once per process. */
const compiledExpressions = new ByteCache<Expression>(CACHE_LIMITS.expressions);
const BYTES_PER_CHARACTER = 200;

/** Compiles an expression, or returns it from the cache. Throws CelSyntaxError. */
export function expression(text: string): Expression {
  const known = compiledExpressions.get(text);
  if (known) return known;
  const compiled = compileExpression(text);
  compiledExpressions.set(text, compiled, text.length * BYTES_PER_CHARACTER);
  return compiled;
}
