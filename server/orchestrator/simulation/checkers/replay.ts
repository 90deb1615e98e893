import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../platform/json.ts';
import type { RunState } from '../../core/index.ts';
import { Violation } from './violation.ts';

/** Set by the start of a run and never changed: compared once for each state in memory. */
const CONSTANT: ReadonlySet<keyof RunState> = new Set(['started', 'input', 'overrides', 'scope', 'runId']);
const seen = new WeakSet<RunState>();

/**
 * Checks that the state that a process holds is the one that follows from the log, so that it contains nothing
 * unwritten.
 */
export function checkReplay(live: RunState, replayed: RunState): void {
  const again = seen.has(live);
  seen.add(live);
  for (const key of Object.keys(replayed) as (keyof RunState)[]) {
    if (key === 'graph' || (again && CONSTANT.has(key))) continue;
    if (!sameIn(key, live, replayed))
      throw new Violation('replay', `"${key}" of the process is not what the log gives for ${live.runId}`);
  }
}

function sameIn(key: keyof RunState, live: RunState, replayed: RunState): boolean {
  switch (key) {
    case 'results':
      return sameResults(live.results, replayed.results);
    case 'grown':
      return growthText(live) === growthText(replayed);
    case 'overrides':
      return isSame(withoutGraphs(live.overrides), withoutGraphs(replayed.overrides));
    default:
      return isSame(live[key], replayed[key]);
  }
}

/** The graph of a loop is the published one, which each reader compiles for itself. */
function withoutGraphs(overrides: RunState['overrides']): Map<string, unknown> {
  return new Map([...overrides].map(([id, step]) => [id, { ...step, inner: null }]));
}

/** Returns everything except the graphs, which are the published ones. Results are compared as JSON. */
function growthText({ grown }: RunState): string {
  return JSON.stringify(grown, (key, value: unknown) => {
    if (key === 'graph') return undefined;
    if (value instanceof Set) return [...value];
    if (value instanceof Map) return key === 'steps' ? [...value.keys()] : [...value];
    return value;
  });
}

/** Equal as JSON: an undefined field equals an absent one, and -0 equals 0. */
function sameResults(a: RunState['results'], b: RunState['results']): boolean {
  if (a.size !== b.size) return false;
  for (const [step, result] of a) {
    const other = b.get(step);
    if (!Object.is(result, other) && JSON.stringify(result) !== JSON.stringify(other)) return false;
  }
  return true;
}

/**
 * Deep equality in which the order of a Set counts (`ready` is a queue). isDeepStrictEqual alone
 * takes three times as long.
 */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].join() === [...b].join();
  if (a instanceof Map && b instanceof Map) {
    if (a.size !== b.size) return false;
    for (const [key, value] of a) if (!sameFields(value, b.get(key))) return false;
    return true;
  }
  return isDeepStrictEqual(a, b);
}

function sameFields(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return isDeepStrictEqual(a, b);
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.is(a[key], b[key]) || isDeepStrictEqual(a[key], b[key]))
  );
}
