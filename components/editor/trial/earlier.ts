import type { Json, JsonObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import type { LastValues } from '../values/last-results.ts';

/** The result of an earlier step that a test uses, and its source. */
export type EarlierResult = {
  id: string;
  name: string;
  /** `typed`: the user wrote the results as JSON. `none`: the step has no result yet; tests read null. */
  source: 'typed' | 'pinned' | 'run' | 'last' | 'none';
  result: Json;
  /** The start of the run or test that produced the result. */
  at: string | null;
  isTest: boolean;
  /** Whether the result is too large to be shown. */
  isLarge: boolean;
};

type Given = {
  /** The ids of the steps before the tested step, nearest first. */
  before: readonly string[];
  /** All steps of the draft, for their names. */
  steps: readonly Step[];
  typed: JsonObject | null;
  pins: Readonly<Record<string, Json>>;
  /** The results of the run that the user chose, and the ids of the results that are too large; null if no run is chosen. */
  run: { results: JsonObject; tooLarge: readonly string[] } | null;
  last: LastValues | null;
};

/**
 * Returns the result of each earlier step in a test: the typed result, otherwise the pinned one, otherwise the result in the chosen run,
 * otherwise the last one.
 */
export function earlierResults({ before, steps, ...given }: Given): EarlierResult[] {
  const names = new Map(steps.map(({ id, name }) => [id, typeof name === 'string' && name !== '' ? name : id]));
  return before.map(id => ({ id, name: names.get(id) ?? id, ...resultOf(id, given) }));
}

function resultOf(id: string, { typed, pins, run, last }: Omit<Given, 'before' | 'steps'>) {
  const plain = { at: null, isTest: false, isLarge: false };
  if (typed !== null && Object.hasOwn(typed, id))
    return { ...plain, source: 'typed' as const, result: typed[id] ?? null };
  if (typed !== null) return { ...plain, source: 'none' as const, result: null };
  if (Object.hasOwn(pins, id)) return { ...plain, source: 'pinned' as const, result: pins[id] ?? null };
  if (run !== null) {
    const isLarge = run.tooLarge.includes(id);
    const isKnown = isLarge || Object.hasOwn(run.results, id);
    return {
      ...plain,
      source: isKnown ? ('run' as const) : ('none' as const),
      result: run.results[id] ?? null,
      isLarge,
    };
  }
  const found = last?.results.get(id);
  if (found === undefined) return { ...plain, source: 'none' as const, result: null };
  const { result, at, isTest, isLarge } = found;
  return { source: 'last' as const, result, at, isTest, isLarge };
}

/** Returns the results to send with a test. The server already knows pinned results and the results of a chosen run. */
export const givenResults = (earlier: readonly EarlierResult[]): JsonObject =>
  Object.fromEntries(
    earlier
      .filter(({ source, isLarge }) => (source === 'typed' || source === 'last') && !isLarge)
      .map(({ id, result }) => [id, result]),
  );
