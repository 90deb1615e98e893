import { expect } from 'vitest';
import {
  type Command,
  CommandRefused,
  compile,
  decide,
  evolve,
  type Graph,
  type GraphStep,
  newRun,
  type RunEvent,
  type RunState,
} from '../../orchestrator/core/index.ts';

/** An event as tests write it, without a time, which the specification adds. */
export type Fact = RunEvent extends infer E ? (E extends RunEvent ? Omit<E, 'at'> : never) : never;

/** The time of given events and, by default, of commands. */
export const NOW = Date.UTC(2026, 0, 1);

/**
 * Creates a test of a decision: given these events, when a command is decided, then these events follow (the style of
 * emmett's DeciderSpecification). Every `when` also checks that deciding does not change the state.
 */
export function specification(...steps: GraphStep[]) {
  const graph = compile({ steps } satisfies Graph);
  const fold = (facts: readonly Fact[]): RunState => {
    const state = newRun('run', graph);
    for (const fact of facts) evolve(state, { at: NOW, ...fact } as RunEvent);
    return state;
  };
  return {
    given: (...facts: Fact[]) => ({
      when: (command: Command, now: number = NOW) => outcome(() => fold(facts), command, now),
      state: () => fold(facts),
    }),
  };
}

function outcome(fold: () => RunState, command: Command, now: number) {
  const state = fold();
  const attempt = (): RunEvent[] => {
    try {
      return decide(state, command, now);
    } finally {
      expect(state, 'decide changed the state').toEqual(fold());
    }
  };
  return {
    /** Expects exactly these events, in this order, all at the time of the command. */
    then(...facts: Fact[]): void {
      expect(attempt()).toEqual(facts.map(fact => ({ at: now, ...fact })));
    },
    thenNothing(): void {
      expect(attempt()).toEqual([]);
    },
    thenRefused(code: CommandRefused['code']): void {
      expect(attempt).toThrow(expect.objectContaining({ name: CommandRefused.name, code }));
    },
    /** Returns the state after the events. */
    state(): RunState {
      return attempt().reduce(evolve, fold());
    },
  };
}
