import type { z } from 'zod';
import type { JsonValue } from '../../../orchestrator/core/index.ts';
import { valueAt } from '../../../orchestrator/languages/value-at.ts';
import { isNumber } from '../../../platform/json-text.ts';
import { type Json, sameJson } from '../../workflows/edits/index.ts';
import type { Check, CheckResult } from '../schemas.ts';

export type CheckInput = z.output<typeof Check>;
/** The end of a step according to the log. */
export type StepEnd = { kind: 'completed'; result: JsonValue } | { kind: 'skipped' } | { kind: 'too_large' };

/** The maximum number of characters of a value that a response shows, as JSON. */
const MAX_SHOWN_CHARACTERS = 2_000;

/**
 * Judges a check against the log of a trial. The result `simulated` means that the check holds but depends on a stand-in.
 */
export function judge(
  check: CheckInput,
  end: StepEnd | undefined,
  isSimulated: (step: string) => boolean,
): z.input<typeof CheckResult> {
  const failed = (reason: string) => ({ ...check, result: 'failed' as const, reason });
  if (end === undefined) return failed('The step has not completed.');
  if (end.kind === 'too_large') return failed('The result of the step is too large to be checked.');
  const actual = end.kind === 'completed' ? valueAt(end.result, check.path) : undefined;
  const shown = actual === undefined || JSON.stringify(actual).length > MAX_SHOWN_CHARACTERS ? {} : { actual };
  const reason = whyNot(check, end, actual);
  if (reason !== null) return { ...failed(reason), ...shown };
  return { ...check, result: isSimulated(check.step) ? 'simulated' : 'proven', reason: null, ...shown };
}

function whyNot({ op, value }: CheckInput, end: StepEnd, actual: JsonValue | undefined): string | null {
  if (op === 'skipped') return end.kind === 'skipped' ? null : 'The step was not skipped.';
  if (end.kind === 'skipped') return 'The step was skipped.';
  if (op === 'completed') return null;
  if (op === 'absent') return actual === undefined ? null : 'There is such a value.';
  if (actual === undefined) return 'There is no such value.';
  return holds(op, actual, (value ?? null) as JsonValue) ? null : 'The value is another one.';
}

function holds(op: CheckInput['op'], actual: JsonValue, value: JsonValue): boolean {
  switch (op) {
    case 'exists':
      return true;
    case 'equals':
      return sameJson(actual as Json, value as Json);
    case 'not_equals':
      return !sameJson(actual as Json, value as Json);
    case 'contains':
      if (typeof actual === 'string') return typeof value === 'string' && actual.includes(value);
      return Array.isArray(actual) && actual.some(item => sameJson(item as Json, value as Json));
    case 'at_least':
      return isNumber(actual) && isNumber(value) && actual >= value;
    case 'at_most':
      return isNumber(actual) && isNumber(value) && actual <= value;
    default:
      return false;
  }
}
