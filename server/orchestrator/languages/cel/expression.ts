import { ByteCache } from '../../../platform/byte-cache.ts';
import { CACHE_LIMITS } from '../../cache-limits.ts';
import { Compiler, type Run } from './compiler.ts';
import type { CelScope } from './scope.ts';
import { asSyntaxError, parse } from './syntax.ts';
import { Budget, CelError, type CelValue } from './values.ts';

/**
 * CEL expressions over `input` and `steps` (docs/specification/steps.md#condition). The syntax is parsed by cel-js;
 * its evaluator is not used, since it rejects mixed int and double, has no limit on work and runs `matches` on the
 * backtracking engine. The syntax tree is compiled to closures once (~0.3 µs an evaluation; the library's own takes
 * ~2).
 */
export type Expression = {
  /** Ids of the steps named literally, as in `steps.a` or `steps["a"]`. */
  readonly steps: ReadonlySet<string>;
  /** Whether it also reads steps that it does not name literally. */
  readonly readsAnyStep: boolean;
  /** Whether it reads the item of a loop, or its number. */
  readonly readsItem: boolean;
  /** Evaluates it to its end or to its limits. Throws CelError. */
  evaluate(scope: CelScope): CelValue;
  /** Evaluates it if that takes little work; otherwise returns undefined. Throws CelError. */
  evaluateSmall(scope: CelScope): CelValue | undefined;
};

/**
 * The maximum cost of an expression (values.ts) on the event loop: ~3 ms at worst. Larger ones are evaluated again from
 * the start in a worker (lua/pool.ts), which takes ~0.2 ms more and is rare.
 */
export const SMALL_UNITS = 10_000;
/** The maximum cost of any expression: ~150 ms and ~50 MB at worst. */
const MAX_UNITS = 500_000;
/** Ends what the units did not foresee; the worker is also ended from outside when the step's time is up. */
const MAX_SMALL_MS = 20;
const MAX_MS = 2_000;

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
    readsAnyStep: compiler.readsAnyStep,
    readsItem: compiler.readsItem,
    evaluate: scope => run({ scope, budget: new Budget(MAX_UNITS, MAX_MS), locals: [] }),
    evaluateSmall(scope) {
      const budget = new Budget(SMALL_UNITS, MAX_SMALL_MS);
      try {
        return run({ scope, budget, locals: [] });
      } catch (error) {
        if (error instanceof CelError && error.code === 'expression_too_costly') return undefined;
        throw error;
      }
    },
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
