import { expect, test } from 'vitest';
import { startData } from '../../testing/engine/facts.ts';
import {
  type Command,
  compile,
  decide,
  effects,
  evolve,
  type GraphStep,
  grow,
  isTerminal,
  type JsonValue,
  newRun,
} from './index.ts';
import type { StepState } from './state.ts';

/** Counts the look-ups of step states, which measure the work of the core. */
class CountingMap extends Map<string, StepState> {
  lookUps = 0;
  override get(key: string): StepState | undefined {
    this.lookUps += 1;
    return super.get(key);
  }
}

/** Returns the look-ups per step of a whole run, from the start to the end. */
function costPerStep(steps: GraphStep[]): number {
  const state = newRun('run', compile({ steps }));
  const counted = new CountingMap(state.steps);
  state.steps = counted;
  const decideAndGrow = (command: Command) => {
    for (let events = decide(state, command, 0); events.length > 0; events = grow(state, 0))
      for (const event of events) evolve(state, event);
  };
  decideAndGrow({ type: 'start', data: startData() });
  while (!isTerminal(state.status)) {
    for (const step of [...effects(state).ready]) decideAndGrow({ type: 'start_attempt', step });
    for (const { step, attempt } of [...effects(state).inFlight]) {
      const count = state.graph.steps.get(step)?.spec.count;
      if (typeof count !== 'number' || state.grown !== null)
        decideAndGrow({ type: 'attempt_succeeded', step, attempt, result: null });
      else {
        const plan = { type: 'for_each', count, concurrency: 10, on_item_error: 'fail' } as const;
        decideAndGrow({
          type: 'attempt_expanding',
          step,
          attempt,
          plan,
          items: Array.from({ length: count }, () => null),
        });
      }
    }
  }
  expect(state.status).toBe('completed');
  return counted.lookUps / (steps.length + (state.grown?.added ?? 0));
}

const chain = (length: number): GraphStep[] =>
  Array.from({ length }, (_, index) => ({
    id: `s${index}`,
    type: 'x',
    depends_on: index > 0 ? [`s${index - 1}`] : [],
  }));
const fan = (width: number): GraphStep[] => {
  const ids = Array.from({ length: width }, (_, index) => `s${index}`);
  return [...ids.map(id => ({ id, type: 'x' })), { id: 'join', type: 'x', depends_on: ids }];
};
const skippedChain = (length: number): GraphStep[] => chain(length).map(step => ({ ...step, disabled: true }));

const loop = (count: number): GraphStep[] => {
  const steps: JsonValue = [{ id: 'a', type: 'x' }];
  return [{ id: 'each', type: 'for_each', count, steps }];
};

test.each([
  ['a chain', chain],
  ['a fan-out with a join', fan],
  ['a cascade of skips', skippedChain],
  ['a loop', loop],
])('%s costs no more per step at 2,000 steps than at 20', (_name, graph) => {
  expect(costPerStep(graph(2000))).toBeLessThan(costPerStep(graph(20)) * 1.1 + 1);
});
