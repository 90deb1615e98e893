import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compile, effects, evolve, type Graph, newRun, phase, type RunEvent, type RunState } from './index.ts';

/**
 * Logs as they were once written. A run outlives the code that began it, so what is read from an old log must stay the
 * same for ever: add files to this folder, never change one.
 */
type Golden = { graph: Graph; events: RunEvent[]; expected: { seq: number; state: unknown }[] };

const folder = new URL('./golden/', import.meta.url);

test.each(readdirSync(folder))('%s reads as it always did', file => {
  const { graph, events, expected }: Golden = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  const state = newRun('run', compile(graph));
  const seen = [];
  for (const event of events) {
    evolve(state, event);
    if (expected.some(({ seq }) => seq === state.seq)) seen.push({ seq: state.seq, state: summary(state) });
  }
  expect(seen).toEqual(expected);
});

function summary(state: RunState) {
  const { ready, inFlight, timers } = effects(state);
  return {
    status: state.status,
    phase: phase(state),
    error: state.error,
    done: state.done,
    results: [...state.results],
    steps: Object.fromEntries(
      [...state.steps].map(([id, step]) => [
        id,
        [step.status, step.attempt, step.failures, step.lost, step.skipReason ?? null],
      ]),
    ),
    ready: [...ready],
    inFlight: [...inFlight],
    timers: [...timers],
  };
}
