import { ByteCache } from '../../../platform/byte-cache.ts';
import { CACHE_LIMITS } from '../../cache-limits.ts';
import { Compiler, type Run } from './compiler.ts';
import type { CelScope } from './scope.ts';
import { asSyntaxError, parse } from './syntax.ts';
import { Budget, CelError, type CelValue } from './values.ts';

/**
 * CEL expressions over `input` and `steps` (docs/specification/steps.md#condition). cel-js parses the syntax. Its
 * evaluator is not used, since it rejects mixed int and double, does not limit work and runs `matches` on the
 * backtracking engine. The syntax tree is compiled to closures once; an evaluation then takes ~0.3 µs (~2 µs with the
 * evaluator of cel-js).
 */
export type Expression = {
  /** Ids of the steps named literally, as in `steps.a` or `steps["a"]`. */
  readonly steps: ReadonlySet<string>;
  /** Whether the expression also reads steps that it does not name literally. */
  readonly readsAnyStep: boolean;
  /** Whether the expression reads the item of a loop, or its index. */
  readonly readsItem: boolean;
  /** Evaluates the expression until it has a result or reaches a limit. Throws CelError. */
  evaluate(scope: CelScope): CelValue;
  /** Evaluates the expression if it takes little work; otherwise returns undefined. Throws CelError. */
  evaluateSmall(scope: CelScope): CelValue | undefined;
};

/**
 * The maximum cost of an expression (values.ts) that is evaluated on the event loop: ~3 ms at worst. A worker
 * (lua/pool.ts) evaluates a larger one again from the start, which takes ~0.2 ms more and is rare.
 */
export const SMALL_UNITS = 10_000;
/** The maximum cost of any expression: ~150 ms and ~50 MB at worst. */
const MAX_UNITS = 500_000;
/** Limits work that the units do not measure. The step's timeout also ends the worker. */
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

/** Each expression is compiled once per process. */
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
