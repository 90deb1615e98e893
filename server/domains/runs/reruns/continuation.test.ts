import { describe, expect, test } from 'vitest';
import type { Graph, GraphStep, JsonMap, JsonValue, RunStartedData } from '../../../orchestrator/core/index.ts';
import { luaStep as lua } from '../../../testing/workflows.ts';
import { newRunState, type StepState } from '../reading/run-state.ts';
import { continuation } from './continuation.ts';

const graphOf = (...steps: GraphStep[]): Graph => ({ steps });

type Ends = Record<string, [StepState['status'], string?]>;
type Old = { results?: Record<string, JsonValue>; named?: Record<string, JsonMap>; seeds?: JsonMap };

function plan(
  before: Graph,
  after: Graph,
  from: string,
  ends: Ends,
  { results = {}, named = {}, seeds = {} }: Old = {},
) {
  const state = newRunState(Object.keys(ends));
  for (const [id, [status, skipReason = null]] of Object.entries(ends)) {
    Object.assign(state.steps.get(id) ?? {}, { status, skipReason });
  }
  const started = { trigger_steps: named, seed_results: seeds } as unknown as RunStartedData;
  const { trigger_steps, seed_results } = continuation({
    before,
    after,
    from,
    ended: state.steps,
    started,
    results: new Map(Object.entries(results)),
  });
  return { named: trigger_steps, seeds: seed_results };
}

const chain = graphOf(lua('a', 'return 1'), lua('b', 'error("x")', 'a'), lua('c', 'return 3', 'b'));
const failed: Ends = { a: ['completed'], b: ['failed'], c: ['skipped', 'blocked'] };
const fixed = (graph: Graph, id: string, patch: Partial<GraphStep>): Graph => ({
  steps: graph.steps.map(step => (step.id === id ? ({ ...step, ...patch } as GraphStep) : step)),
});

describe('the episode that continues a run', () => {
  test('the failed step and its descendants run; the steps before it keep their results', () => {
    const after = fixed(chain, 'b', { script: 'return 2' });
    expect(plan(chain, after, 'b', failed, { results: { a: 1 } })).toEqual({ named: { b: {} }, seeds: { a: 1 } });
  });

  test('a changed step before the failed one runs again, and so do its descendants', () => {
    const after = fixed(chain, 'a', { script: 'return 9' });
    expect(plan(chain, after, 'b', failed, { results: { a: 1 } })).toEqual({ named: { a: {} }, seeds: {} });
  });

  test('a step that may have happened, and that a person chose not to repeat, does not run', () => {
    const ends: Ends = { a: ['skipped', 'not_repeated'], b: ['failed'], c: ['skipped', 'blocked'] };
    expect(plan(chain, chain, 'b', ends)).toEqual({ named: { b: {} }, seeds: {} });
    const changed = fixed(chain, 'a', { script: 'return 9' });
    expect(plan(chain, changed, 'b', ends)).toEqual({ named: { a: {} }, seeds: {} });
    const asks = fixed(chain, 'a', { on_lost: 'ask' });
    expect(plan(chain, asks, 'b', failed, { results: { a: 1 } })).toEqual({ named: { b: {} }, seeds: { a: 1 } });
  });

  test('changes that do not affect a result leave it valid: positions, retries, time limits, names', () => {
    const after = fixed(chain, 'a', { position: { x: 1, y: 2 }, retry_count: 3, timeout_s: 5, name: 'First' });
    expect(plan(chain, after, 'b', failed, { results: { a: 1 } })).toEqual({ named: { b: {} }, seeds: { a: 1 } });
  });

  test('a changed task is assigned again', () => {
    const before = graphOf({ id: 'a', type: 'human_task', name: 'Old' }, lua('b', 'error("x")', 'a'));
    const ends: Ends = { a: ['completed'], b: ['failed'] };
    const after = fixed(before, 'a', { name: 'New' });
    expect(plan(before, after, 'b', ends, { results: { a: { approved: true } } })).toEqual({
      named: { a: {} },
      seeds: {},
    });
  });

  test('a new step, a removed one, and a sibling that was cancelled', () => {
    const before = graphOf(lua('a', '1'), lua('b', '2', 'a'), lua('gone', '3', 'a'), lua('sibling', '4', 'a'));
    const after = graphOf(lua('a', '1'), lua('b', '2', 'a'), lua('fresh', '5', 'a'), lua('sibling', '4', 'a'));
    const ends: Ends = { a: ['completed'], b: ['failed'], gone: ['completed'], sibling: ['cancelled'] };
    expect(plan(before, after, 'b', ends, { results: { a: 1, gone: 3 } })).toEqual({
      named: { b: {}, fresh: {}, sibling: {} },
      seeds: { a: 1 },
    });
  });

  describe('a branch that was not taken', () => {
    const condition = { id: 'if', type: 'condition', expression: 'true', then: ['yes'], else: ['no'] };
    const before = graphOf(condition, lua('yes', '1', 'if'), lua('no', '2', 'if'), lua('under', '3', 'no'));
    const ends: Ends = {
      if: ['completed'],
      yes: ['failed'],
      no: ['skipped', 'branch_not_taken'],
      under: ['skipped', 'branch_not_taken'],
    };
    const results = { if: { value: true, branch: 'then' } };

    test('is skipped again, even if its steps changed or new ones were added', () => {
      const changed = fixed(fixed(before, 'no', { script: '9' }), 'yes', { script: '8' });
      const after = { steps: [...changed.steps, lua('fresh', '5', 'under')] };
      expect(plan(before, after, 'yes', ends, { results })).toEqual({ named: { yes: {} }, seeds: results });
    });

    test('runs if a step has moved into the branch that was taken', () => {
      const after = fixed(before, 'if', { then: ['yes', 'no'], else: [] });
      expect(plan(before, after, 'yes', ends, { results })).toEqual({
        named: { yes: {}, no: {} },
        seeds: results,
      });
    });

    test('does not skip a step that another edge leads to', () => {
      const joined = graphOf(
        { ...condition, then: ['yes'], else: ['join'] },
        lua('yes', '1', 'if'),
        lua('join', '2', 'yes', 'if'),
        lua('last', '3', 'join'),
      );
      const ended: Ends = { if: ['completed'], yes: ['completed'], join: ['completed'], last: ['failed'] };
      const known = { ...results, yes: 1, join: 2 };
      expect(plan(joined, fixed(joined, 'last', { script: '9' }), 'last', ended, { results: known })).toEqual({
        named: { last: {} },
        seeds: known,
      });
    });

    test('is decided again if the condition has changed', () => {
      const after = fixed(before, 'if', { expression: 'false' });
      expect(plan(before, after, 'yes', ends, { results })).toEqual({ named: { if: {} }, seeds: {} });
    });
  });

  test('gates and disabled steps stay closed unless the old run named them', () => {
    const gate = { ...lua('gate', '1', 'a'), gated: true };
    const off = { ...lua('off', '1', 'a'), disabled: true };
    const before = graphOf(lua('a', '1'), lua('b', '2', 'a'), gate, off);
    const ends: Ends = {
      a: ['completed'],
      b: ['failed'],
      gate: ['skipped', 'out_of_scope'],
      off: ['skipped', 'step_disabled'],
    };
    const changed = fixed(fixed(before, 'gate', { script: '7' }), 'off', { script: '7' });
    expect(plan(before, changed, 'b', ends, { results: { a: 1 } }).named).toEqual({ b: {} });
    const named = { gate: { timeout_s: 5 } };
    const opened: Ends = { ...ends, gate: ['failed'] };
    expect(plan(before, before, 'b', opened, { results: { a: 1 }, named }).named).toEqual({ b: {}, ...named });
    expect(plan(before, fixed(before, 'off', { disabled: false }), 'b', ends, { results: { a: 1 } }).named).toEqual({
      b: {},
      off: {},
    });
  });

  test('steps outside of an episode stay outside, with their given results', () => {
    const ends: Ends = { a: ['skipped', 'out_of_scope'], b: ['failed'], c: ['skipped', 'blocked'] };
    expect(plan(chain, chain, 'b', ends, { seeds: { a: 5 }, named: { b: {} } })).toEqual({
      named: { b: {} },
      seeds: { a: 5 },
    });
  });
});
