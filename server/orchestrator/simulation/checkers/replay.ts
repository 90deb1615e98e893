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
  if (live.seq !== replayed.seq)
    throw new Violation('replay', `the process is at ${live.seq}, the log at ${replayed.seq}`);
  for (const key of Object.keys(replayed) as (keyof RunState)[]) {
    if (key !== 'graph' && !isDeepStrictEqual(live[key], replayed[key])) {
      throw new Violation('replay', `"${key}" of the process is not what the log gives`);
    }
  }
}
