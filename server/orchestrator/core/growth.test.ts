import { beforeEach, describe, expect, test } from 'vitest';
import { boom, startData } from '../../testing/engine/facts.ts';
import { MAX_ADDED, MAX_ADDED_IN_MEMORY } from './growth.ts';
import {
  type Command,
  compile,
  decide,
  effects,
  evolve,
  type GraphStep,
  grow,
  type JsonValue,
  type LoopPlan,
  newRun,
  type RunEvent,
  type RunState,
} from './index.ts';

const loop = (steps: GraphStep[], over: Partial<GraphStep> = {}): GraphStep => ({
  id: 'each',
  type: 'for_each',
  // A graph is JSON; only its type has absent fields as undefined ones.
  steps: steps as unknown as JsonValue,
  ...over,
});
const plan = (count: number, over: Partial<LoopPlan> = {}): LoopPlan => ({
  type: 'for_each',
  count,
  concurrency: 2,
  on_item_error: 'fail',
  ...over,
});

let state: RunState;
let written: RunEvent[];
let now = 0;

/** Starts a run of these steps. `ask` decides a command, and everything that follows from it. */
function begin(steps: GraphStep[]): void {
  state = newRun('run', compile({ steps }));
  written = [];
  decideAndGrow({ type: 'start', data: startData() });
}
function decideAndGrow(command: Command): RunEvent[] {
  const before = written.length;
  for (let events = decide(state, command, now); events.length > 0; events = grow(state, now)) {
    for (const event of events) evolve(state, event);
    written.push(...events);
  }
  return written.slice(before);
}
const start = (step: string) => decideAndGrow({ type: 'start_attempt', step });
const attempt = (step: string) => state.steps.get(step)?.attempt ?? 0;
const succeed = (step: string, result: JsonValue = null) =>
  decideAndGrow({ type: 'attempt_succeeded', step, attempt: attempt(step), result });
const fail = (step: string) =>
  decideAndGrow({ type: 'attempt_failed', step, attempt: attempt(step), error: boom, retryable: false, random: 0 });
const expand = (step: string, of: LoopPlan) => {
  start(step);
  const items = Array.from({ length: of.count }, (_, index) => index);
  return decideAndGrow({ type: 'attempt_expanding', step, attempt: attempt(step), plan: of, items });
};
const run = (step: string, result: JsonValue = null) => {
  start(step);
  return succeed(step, result);
};
const ready = () => [...effects(state).ready];
const ends = () =>
  written.flatMap(event => ('step' in event && event.type.match(/ed$/) ? [`${event.type} ${event.step}`] : []));

beforeEach(() => {
  now = 1_000;
});

describe('a step that expands', () => {
  test('adds as many items as its concurrency allows, and another one after each end', () => {
    begin([
      loop([
        { id: 'a', type: 'x' },
        { id: 'b', type: 'x', depends_on: ['a'] },
      ]),
    ]);
    const [, added] = expand('each', plan(3));
    expect(added).toEqual({
      at: now,
      type: 'steps_added',
      step: 'each',
      attempt: 1,
      data: {
        parent: 'each',
        steps: ['each.0.a', 'each.0.b', 'each.1.a', 'each.1.b'].map(id => ({ id, type: 'x' })),
      },
    });
    expect(ready()).toEqual(['each.0.a', 'each.1.a']);
    expect(state.inFlight.size).toBe(0);
    run('each.1.a');
    expect(ready()).toEqual(['each.0.a', 'each.1.b']);
    run('each.1.b');
    expect(ready()).toEqual(['each.0.a', 'each.2.a']);
    expect(state.steps.has('each.1.a')).toBe(false);
  });

  test('ends with the results of the last steps, in the order of the items', () => {
    begin([
      loop([
        { id: 'a', type: 'x' },
        { id: 'b', type: 'x', depends_on: ['a'] },
      ]),
    ]);
    expand('each', plan(2));
    for (const index of [1, 0]) {
      run(`each.${index}.a`, 'not kept');
      run(`each.${index}.b`, index);
    }
    expect(state.grown?.parents.get('each')).toMatchObject({ ends: [[0], [1]] });
    expect([...state.results]).toEqual([]);
    expect(ready()).toEqual(['each']);
    run('each', { results: [0, 1], failed: 0 });
    expect(state.status).toBe('completed');
    expect([state.done, state.grown?.added, state.grown?.ended]).toEqual([1, 4, 4]);
  });

  test('releases the memory of its items', () => {
    begin([loop([{ id: 'a', type: 'x' }])]);
    const before = { bytes: state.bytes, resident: state.residentBytes };
    expand('each', plan(3));
    for (const index of [0, 1, 2]) run(`each.${index}.a`, { text: 'x'.repeat(100) });
    run('each', null);
    const result = state.bytes - before.bytes;
    expect(result).toBeLessThan(50);
    expect(state.residentBytes - before.resident).toBe(result);
    expect([state.grown?.planned, state.grown?.reserved]).toEqual([3, 0]);
  });

  test('ends at once if there is nothing to add', () => {
    begin([loop([])]);
    expand('each', plan(3));
    expect(ready()).toEqual(['each']);
  });

  test('skips the steps of an item like those of a run', () => {
    const inner: GraphStep[] = [
      { id: 'if', type: 'condition', then: ['yes'], else: ['no'] },
      { id: 'yes', type: 'x', depends_on: ['if'] },
      { id: 'no', type: 'x', depends_on: ['if'] },
      { id: 'off', type: 'x', disabled: true },
    ];
    begin([loop(inner)]);
    expand('each', plan(1));
    run('each.0.if', { branch: 'then' });
    run('each.0.yes', 'y');
    expect(ends()).toContain('step_completed each.0.no');
    expect(state.grown?.parents.get('each')).toMatchObject({ ends: [['y', null, null]] });
  });
});

describe('a failure in a loop', () => {
  const inner: GraphStep[] = [
    { id: 'a', type: 'x' },
    { id: 'b', type: 'x' },
    { id: 'c', type: 'x', depends_on: ['a'] },
  ];

  test('ends its item and is counted, if the loop continues', () => {
    begin([loop(inner)]);
    expand('each', plan(3, { on_item_error: 'continue' }));
    start('each.0.a');
    start('each.0.b');
    const events = fail('each.0.a');
    expect(events.map(event => [event.type, 'step' in event ? event.step : null])).toEqual([
      ['step_failed', 'each.0.a'],
      ['step_cancelled', 'each.0.b'],
      ['step_completed', 'each.0.c'],
      ['steps_added', 'each'],
    ]);
    expect(events[0]?.data).toMatchObject({ tolerated: true });
    expect(events[1]?.data).toMatchObject({ reason: 'step_failed', caused_by_step_id: 'each.0.a' });
    expect(state.grown?.parents.get('each')).toMatchObject({ failed: 1, ends: [null] });
    expect(state.status).toBe('running');
  });

  test('otherwise fails the loop and the run; no added step outlives the loop', () => {
    begin([loop(inner), { id: 'other', type: 'x' }]);
    expand('each', plan(3));
    start('each.1.b');
    start('each.0.a');
    const events = fail('each.0.a');
    const order = events.map(event => ('step' in event ? event.step : event.type));
    expect(order.indexOf('each')).toBeGreaterThan(order.indexOf('each.1.b'));
    expect(order.slice(-3)).toEqual(['each', 'other', 'state_changed']);
    expect(state.error).toEqual({ code: 'boom', message: 'Item 0 failed in "a": It broke.', step_id: 'each' });
  });

  test('of an inner loop is left to the outer one', () => {
    const nested = loop([{ id: 'x', type: 'x' }], { id: 'inner' });
    begin([loop([nested])]);
    expand('each', plan(1, { on_item_error: 'continue' }));
    expand('each.0.inner', plan(2));
    start('each.0.inner.1.x');
    fail('each.0.inner.1.x');
    expect(ends()).toContain('step_failed each.0.inner');
    expect(state.grown?.parents.get('each')).toMatchObject({ failed: 1 });
    expect(state.status).toBe('running');
    expect(ready()).toEqual(['each']);
  });

  test('of time fails the loop', () => {
    begin([loop(inner, { timeout_s: 5 })]);
    expand('each', plan(1));
    expect([...effects(state).timers]).toEqual([{ step: 'each', kind: 'expansion', dueAt: 6_000 }]);
    now = 5_999;
    expect(decideAndGrow({ type: 'expansion_timed_out', step: 'each' })).toEqual([]);
    now = 6_000;
    decideAndGrow({ type: 'expansion_timed_out', step: 'each' });
    expect(state.error).toMatchObject({ code: 'step_timed_out', step_id: 'each' });
  });
});

describe('a run that does not continue', () => {
  test('adds nothing while it is paused, and continues when it is resumed', () => {
    begin([loop([{ id: 'a', type: 'x' }])]);
    expand('each', plan(3));
    start('each.0.a');
    decideAndGrow({ type: 'pause', by: 'ann' });
    expect(succeed('each.0.a').map(({ type }) => type)).toEqual(['step_completed']);
    expect(decideAndGrow({ type: 'resume', by: 'ann' }).map(({ type }) => type)).toEqual([
      'state_changed',
      'steps_added',
    ]);
  });

  test('ends the added steps before the loop when it is stopped', () => {
    begin([loop([{ id: 'a', type: 'x' }])]);
    expand('each', plan(3));
    start('each.0.a');
    decideAndGrow({ type: 'stop', mode: 'graceful', by: 'ann' });
    const events = succeed('each.0.a');
    expect(events.map(event => ('step' in event ? event.step : event.type))).toEqual([
      'each.0.a',
      'each.1.a',
      'each',
      'state_changed',
    ]);
    expect(state.status).toBe('stopped');
  });

  test('a quarantined run fails the started loop', () => {
    begin([loop([{ id: 'a', type: 'x' }])]);
    expand('each', plan(3));
    start('each.0.a');
    decideAndGrow({ type: 'quarantine', message: 'no' });
    expect(state.error?.step_id).toBe('each');
  });
});

describe('limits', () => {
  const inner = Array.from({ length: 10 }, (_, index) => ({ id: `s${index}`, type: 'x' }));

  test.each([
    ['in all', plan(MAX_ADDED / 10, { concurrency: 1 }), plan(MAX_ADDED / 10 + 1, { concurrency: 1 })],
    [
      'at a time',
      plan(5_000, { concurrency: MAX_ADDED_IN_MEMORY / 10 }),
      plan(5_000, { concurrency: MAX_ADDED_IN_MEMORY / 10 + 1 }),
    ],
  ])('steps %s', (_name, most, more) => {
    begin([loop(inner)]);
    expect(expand('each', most)[0]?.type).toBe('step_expanded');
    begin([loop(inner)]);
    expand('each', more);
    expect(state.error).toMatchObject({ code: 'too_many_steps', step_id: 'each' });
  });

  test('depth', () => {
    let steps: GraphStep[] = [{ id: 'x', type: 'x' }];
    for (let depth = 5; depth > 0; depth--) steps = [loop(steps, { id: `l${depth}` })];
    begin(steps);
    const path = ['l1', 'l1.0.l2', 'l1.0.l2.0.l3', 'l1.0.l2.0.l3.0.l4'];
    for (const step of path)
      expect(expand(step, plan(1)).map(({ type }) => type)).toEqual(
        ['step_started', 'step_expanded', 'steps_added'].slice(1),
      );
    expand('l1.0.l2.0.l3.0.l4.0.l5', plan(1));
    expect(state.error?.message).toContain('4 levels deep');
  });
});
