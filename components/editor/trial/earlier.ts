import type { Json, JsonObject } from '@/server/platform/json.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import type { LastValues } from '../values/last-results.ts';

/** The result of an earlier step that a test begins with, and where it is from. */
export type EarlierResult = {
  id: string;
  name: string;
  /** `typed`: somebody wrote the results as JSON. `none`: the step has no result yet, which tests read as null. */
  source: 'typed' | 'pinned' | 'run' | 'last' | 'none';
  result: Json;
  /** When the run or test began that the result is of. */
  at: string | null;
  isTest: boolean;
  /** It is too large to be shown. */
  isLarge: boolean;
};

type Given = {
  /** The ids of the steps before the one under test, the nearest first. */
  before: readonly string[];
  /** Every step of the draft, for the names. */
  steps: readonly Step[];
  typed: JsonObject | null;
  pins: Readonly<Record<string, Json>>;
  /** The results of the run that somebody chose, and the ids of those that are too large; null: no run is chosen. */
  run: { results: JsonObject; tooLarge: readonly string[] } | null;
  last: LastValues | null;
};

/** Returns the result that each earlier step has in a test: the one that was typed, else pinned, else of the chosen run, else its last one. */
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

/** Returns the results that are sent with a test. The server knows those that are pinned, and those of a chosen run. */
export const givenResults = (earlier: readonly EarlierResult[]): JsonObject =>
  Object.fromEntries(
    earlier
      .filter(({ source, isLarge }) => (source === 'typed' || source === 'last') && !isLarge)
      .map(({ id, result }) => [id, result]),
  );
