import { isDeepStrictEqual } from 'node:util';
import type { CompiledGraph, RunEvent, RunState } from '../../core/index.ts';
import type { Engine } from '../engine.ts';
import { Violation } from './violation.ts';

/** The fold of a log, from its first event. */
export function replay(engine: Engine, runId: string, graph: CompiledGraph, events: readonly RunEvent[]): RunState {
  const state = engine.newRun(runId, graph);
  for (const event of events) engine.evolve(state, event);
  return state;
}

/** The state that a process holds is the one that the log gives: nothing is known that is not written. */
export function checkReplay(live: RunState, replayed: RunState): void {
  for (const key of Object.keys(replayed) as (keyof RunState)[]) {
    if (key !== 'graph' && !same(live[key], replayed[key])) {
      throw new Violation('replay', `"${key}" of the process is not what the log gives`);
    }
  }
}

/** Deep equality, in which the order of a Set counts (`ready` is a queue); isDeepStrictEqual alone takes three times as long. */
function same(a: unknown, b: unknown): boolean {
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
  if (!isRecord(a) || !isRecord(b)) return isDeepStrictEqual(a, b);
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.is(a[key], b[key]) || isDeepStrictEqual(a[key], b[key]))
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
