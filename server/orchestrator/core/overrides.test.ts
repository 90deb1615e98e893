import { describe, expect, test } from 'vitest';
import { began, boom, changed, done, retrying, skipped, startData, started } from '../../testing/engine/facts.ts';
import { specification } from '../../testing/engine/specification.ts';
import { stepSpec } from './index.ts';

describe('trigger_steps override a step for one run', () => {
  test('its fields, but not its id, type and dependencies', () => {
    const trigger_steps = { b: { prompt: 'new', id: 'z', type: 'y', depends_on: [], retry_count: 1 } };
    const state = specification(
      { id: 'a', type: 'x' },
      { id: 'b', type: 'x', prompt: 'old', model: 'm', depends_on: ['a'] },
    )
      .given(started({ trigger_steps }))
      .state();
    expect(stepSpec(state, 'b')).toEqual({
      id: 'b',
      type: 'x',
      prompt: 'new',
      model: 'm',
      depends_on: ['a'],
      retry_count: 1,
    });
    expect(stepSpec(state, 'a')).toEqual({ id: 'a', type: 'x' });
    expect([...state.ready]).toEqual(['a']);
    expect(state.graph.steps.get('b')?.spec.prompt).toBe('old');
    expect(() => stepSpec(state, 'nowhere')).toThrow('nowhere');
  });

  test('disabled, and enabled again', () => {
    const data = startData({ trigger_steps: { a: { disabled: true }, b: { disabled: false } } });
    specification({ id: 'a', type: 'x' }, { id: 'b', type: 'x', disabled: true })
      .given()
      .when({ type: 'start', data })
      .then(started(data), skipped('a', 'step_disabled'));
  });

  test('retry_count and retry_delay_s', () => {
    specification({ id: 'a', type: 'x' })
      .given(started({ trigger_steps: { a: { retry_count: 1, retry_delay_s: 3 } } }), began('a'))
      .when({ type: 'attempt_failed', step: 'a', attempt: 1, error: boom, retryable: true, random: 1 })
      .then(retrying('a', 3000));
  });

  test('the branches and the mode of a condition', () => {
    const steps = [
      { id: 'c', type: 'condition', then: ['b'] },
      { id: 'b', type: 'x', depends_on: ['c'] },
    ];
    const result = { value: false, branch: 'else' };
    const runWith = (override: { then?: string[]; mode?: string }) =>
      specification(...steps)
        .given(started({ trigger_steps: { c: override } }), began('c'))
        .when({ type: 'attempt_succeeded', step: 'c', attempt: 1, result });
    runWith({}).then(done('c', result), skipped('b', 'branch_not_taken'), changed('running', 'completed'));
    runWith({ then: [] }).then(done('c', result));
    runWith({ mode: 'validate' }).then(done('c', result));
  });

  test('for a step that the graph does not have are ignored', () => {
    const data = startData({ trigger_steps: { nowhere: { disabled: true } } });
    specification({ id: 'a', type: 'x' }).given().when({ type: 'start', data }).then(started(data));
  });
});

describe('step ids that are names of Object.prototype', () => {
  const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const spec = specification(
    ...ids.map((id, index) => ({ id, type: 'x', gated: true, depends_on: ids.slice(Math.max(0, index - 1), index) })),
  );

  test('are not treated as named or seeded', () => {
    const skips = ids.map(id => skipped(id, 'out_of_scope'));
    const run = spec.given().when({ type: 'start', data: startData() });
    run.then(started(), ...skips, changed('running', 'completed'));
    expect(run.state().results.size).toBe(0);
  });

  test('can be named, seeded and overridden', () => {
    const data = startData({
      trigger_steps: JSON.parse('{"__proto__":{"prompt":"p"},"toString":{"__proto__":{"gated":false}}}'),
      seed_results: JSON.parse('{"constructor":7,"__proto__":8}'),
    });
    const after = spec.given(started(data), began('__proto__')).when({
      type: 'attempt_succeeded',
      step: '__proto__',
      attempt: 1,
      result: { ok: true },
    });
    after.then(done('__proto__', { ok: true }), skipped('constructor', 'out_of_scope'));
    const state = after.state();
    expect([...state.results]).toEqual([
      ['__proto__', { ok: true }],
      ['constructor', 7],
    ]);
    expect(stepSpec(state, '__proto__').prompt).toBe('p');
    expect([...state.ready]).toEqual(['toString']);
    expect(({} as Record<string, unknown>).gated).toBeUndefined();
  });
});
