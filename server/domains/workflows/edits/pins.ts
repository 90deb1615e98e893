import { type Fields, type Json, withFields } from './draft.ts';

/** The largest pinned result, in bytes of JSON. A test run converts the result to a script, which may be four times as large. */
export const MAX_PINNED_RESULT_BYTES = 64 * 1024;

/** Returns the pinned results of a run setup, by the ids of their steps. */
export function pinsIn(setup: unknown): Fields {
  const pins = (setup as { pinned_results?: unknown } | null | undefined)?.pinned_results;
  return typeof pins === 'object' && pins !== null && !Array.isArray(pins) ? (pins as Fields) : {};
}

/** Returns the run setup with a pinned result for the step, which replaces an earlier one. */
export function withPin(setup: Fields, step: string, result: Json): Fields {
  return withFields(setup, { pinned_results: withFields(pinsIn(setup), { [step]: result }, [step]) });
}

/** Returns the run setup without the pinned result of a step; the same object if it has none. */
export function withoutPin(setup: Fields, step: string): Fields {
  const pins = pinsIn(setup);
  if (!Object.hasOwn(pins, step)) return setup;
  const rest = withFields(pins, {}, [step]);
  return Object.keys(rest).length === 0
    ? withFields(setup, {}, ['pinned_results'])
    : withFields(setup, { pinned_results: rest });
}
