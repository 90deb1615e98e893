import type { Command, Consumption, StepError } from '../../core/index.ts';
import type { Outcome } from '../../steps/step-type.ts';

/** engine.md, Payloads. */
export const MAX_RESULT_BYTES = 1024 * 1024;
/** Deeper values overflow the stacks of serialisers on the way, PostgreSQL's included. */
const MAX_DEPTH = 200;
/** A public message is read by people; a provider's whole error page is not one. */
const MAX_ERROR_LENGTH = 4_000;

/** What the core is told about an attempt's end. `random` (0..1) is for the jitter of a retry. */
export function outcomeCommand(step: string, attempt: number, outcome: Outcome, random: number): Command {
  switch (outcome.kind) {
    case 'waiting':
      return { type: 'attempt_waiting', step, attempt, task: outcome.task };
    case 'completed': {
      const error = resultProblem(outcome.result);
      const consumed = consumedIn(outcome);
      if (error !== null)
        return {
          type: 'attempt_failed',
          step,
          attempt,
          error,
          retryable: false,
          random,
          log: outcome.log,
          ...consumed,
        };
      return { type: 'attempt_succeeded', step, attempt, result: outcome.result, log: outcome.log, ...consumed };
    }
    case 'failed': {
      const { error, retryable, retryAfterMs, log } = outcome;
      const consumed = consumedIn(outcome);
      return {
        type: 'attempt_failed',
        step,
        attempt,
        error: shortened(error),
        retryable,
        random,
        retryAfterMs,
        log,
        ...consumed,
      };
    }
  }
}

/** What is to be charged beside the step: whole, positive quantities, or a provider's odd answer would spoil the books. */
function consumedIn({ consumed }: { consumed?: Consumption[] }): { consumed?: Consumption[] } {
  const charged = consumed?.filter(({ quantity }) => Number.isSafeInteger(quantity) && quantity > 0) ?? [];
  return charged.length === 0 ? {} : { consumed: charged };
}

function shortened(error: StepError): StepError {
  if (error.message.length <= MAX_ERROR_LENGTH) return error;
  return { code: error.code, message: `${error.message.slice(0, MAX_ERROR_LENGTH)}…` };
}

/** What keeps a result from being stored as it is, or null. Memory and log must agree on it, so nothing is coerced. */
export function resultProblem(result: unknown): StepError | null {
  const size = jsonSizeBound(result, 0);
  if (typeof size === 'string') return { code: 'result_not_json', message: `The step's result is not JSON: ${size}.` };
  if (size <= MAX_RESULT_BYTES) return null;
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes <= MAX_RESULT_BYTES) return null;
  return { code: 'result_too_large', message: `The step's result has ${bytes} bytes of JSON; at most 1 MiB is kept.` };
}

/** An upper bound of the bytes of a value's JSON, found without serialising it; or what is not JSON in it. */
function jsonSizeBound(value: unknown, depth: number): number | string {
  if (value === null) return 4;
  switch (typeof value) {
    case 'string':
      return value.length * 6 + 2;
    case 'boolean':
      return 5;
    case 'number':
      return Number.isFinite(value) ? 25 : `the number ${value}`;
    case 'object':
      if (depth >= MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
      return Array.isArray(value) ? arrayBound(value, depth) : objectBound(value, depth);
    default:
      return `a value of type ${typeof value}`;
  }
}

function arrayBound(values: readonly unknown[], depth: number): number | string {
  let total = 2;
  for (const value of values) {
    const size = jsonSizeBound(value, depth + 1);
    if (typeof size === 'string') return size;
    total += size + 1;
  }
  return total;
}

function objectBound(value: object, depth: number): number | string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `an object of class ${prototype?.constructor?.name}`;
  let total = 2;
  for (const [key, field] of Object.entries(value as Record<string, unknown>)) {
    // As JSON has it: an undefined field is an absent one.
    if (field === undefined) continue;
    const size = jsonSizeBound(field, depth + 1);
    if (typeof size === 'string') return size;
    total += key.length * 6 + 4 + size;
  }
  return total;
}
