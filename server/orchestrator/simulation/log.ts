import { type CompiledGraph, compile, type Graph, type RunEvent, type RunState } from '../core/index.ts';
import { checkAttempts } from './checkers/attempts.ts';
import { checkEffects } from './checkers/effects.ts';
import { checkEndings } from './checkers/endings.ts';
import { checkNotStuck } from './checkers/not-stuck.ts';
import { checkOneEnd } from './checkers/one-end.ts';
import { checkOrder } from './checkers/order.ts';
import { replay } from './checkers/replay.ts';
import { checkSequence } from './checkers/sequence.ts';
import { checkSkips } from './checkers/skips.ts';
import type { EventChecker } from './checkers/violation.ts';
import type { Engine } from './engine.ts';
import { History } from './history.ts';

const EVENT_CHECKERS: readonly EventChecker[] = [
  checkSequence,
  checkOneEnd,
  checkOrder,
  checkAttempts,
  checkSkips,
  checkEndings,
];

export type LoggedRun = {
  readonly id: string;
  readonly tenant: string;
  readonly graph: CompiledGraph;
  readonly events: RunEvent[];
  readonly history: History;
  /** The fold of the log by the engine under test, kept up as it grows. */
  readonly state: RunState;
};

/**
 * The database of the simulation: it survives every crash. As the primary key does for the real one, it refuses a writer
 * that does not know all that is written. Every write is checked.
 */
export class Log {
  readonly #engine: Engine;
  readonly #fenced: boolean;
  readonly runs = new Map<string, LoggedRun>();
  /** Events written. */
  written = 0;

  constructor(engine: Engine, fenced: boolean) {
    this.#engine = engine;
    this.#fenced = fenced;
  }

  /** Makes a run known, before its first event. */
  register(id: string, tenant: string, graph: Graph): void {
    const compiled = compile(graph);
    const state = this.#engine.newRun(id, compiled);
    this.runs.set(id, { id, tenant, graph: compiled, events: [], history: new History(graph), state });
  }

  /** Throws for a run that was never registered. */
  run(id: string): LoggedRun {
    const run = this.runs.get(id);
    if (run === undefined) throw new Error(`There is no run "${id}".`);
    return run;
  }

  /** Writes all events after `seq` or, where others have been written there, none. Throws a Violation. */
  append(id: string, seq: number, events: readonly RunEvent[]): 'written' | 'conflict' {
    const run = this.run(id);
    if (this.#fenced && run.events.length !== seq) return 'conflict';
    for (const event of events) {
      run.events.push(event);
      for (const check of EVENT_CHECKERS) check(run.history, event);
      run.history.add(event);
      this.#engine.evolve(run.state, event);
      this.written += 1;
    }
    checkNotStuck(run.history);
    checkEffects(this.#engine, run.history, run.state);
    return 'written';
  }

  /** What a process that knows nothing makes of a run. */
  load(id: string): RunState {
    const run = this.run(id);
    return replay(this.#engine, id, run.graph, run.events);
  }
}
