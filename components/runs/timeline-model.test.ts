import { expect, test } from 'vitest';
import {
  type AttemptState,
  newRunState,
  type RunState,
  type StepState,
} from '@/server/domains/runs/reading/run-state.ts';
import { gapsOf, scaleOf, timelineOf } from './timeline-model.ts';

const attempt = (startedAt: number, endedAt: number | null, outcome: AttemptState['outcome']): AttemptState => ({
  attempt: 1,
  startedAt,
  endedAt,
  outcome,
  error: null,
  credits: 0,
});
const steps = [
  { id: 'ask', type: 'human_task', depends_on: ['flaky'] },
  { id: 'flaky', type: 'lua_script' },
  { id: 'last', type: 'lua_script', depends_on: ['ask'] },
];
function runOf(patches: Record<string, Partial<StepState>>, endedAt: number | null = null): RunState {
  const state = newRunState(steps.map(({ id }) => id));
  for (const [id, patch] of Object.entries(patches)) Object.assign(state.steps.get(id) ?? {}, patch);
  return { ...state, endedAt };
}
const flaky = {
  status: 'completed' as const,
  attempts: [attempt(1_100, 1_200, 'failed'), attempt(1_500, 1_600, 'completed')],
  endedAt: 1_600,
};
const segments = (state: RunState, now: number) =>
  timelineOf(steps, state, 1_000, now).rows.map(({ id, segments }) => [
    id,
    segments.map(({ kind, from, to }) => `${kind} ${from}-${to}`),
  ]);

test('waits in the queue, for retries and for people have different kinds, and rows are ordered by start', () => {
  const ask = { status: 'waiting' as const, taskName: 'Look', attempts: [attempt(1_600, null, 'waiting')] };
  expect(segments(runOf({ flaky, ask }), 9_000)).toEqual([
    ['flaky', ['queued 1000-1100', 'failed 1100-1200', 'retry 1200-1500', 'completed 1500-1600']],
    ['ask', ['waiting 1600-9000']],
    ['last', []],
  ]);
});

test('steps in progress last until now, and ready steps are queued', () => {
  const retrying = { status: 'retrying' as const, attempts: [attempt(1_100, 1_200, 'failed')] };
  expect(segments(runOf({ flaky: retrying }), 2_000)[0]).toEqual([
    'flaky',
    ['queued 1000-1100', 'failed 1100-1200', 'retry 1200-2000'],
  ]);
  expect(segments(runOf({}), 2_000)[0]).toEqual(['flaky', ['queued 1000-2000']]);
  expect(segments(runOf({}, 1_500), 2_000)[0]).toEqual(['ask', []]);
});

test('gaps without a running step are folded, and the order of instants is kept', () => {
  const ask = {
    status: 'completed' as const,
    taskName: 'Look',
    attempts: [attempt(1_600, 3_601_600, 'completed')],
    endedAt: 3_601_600,
  };
  const last = {
    status: 'completed' as const,
    attempts: [attempt(3_601_600, 3_602_600, 'completed')],
    endedAt: 3_602_600,
  };
  const timeline = timelineOf(steps, runOf({ flaky, ask, last }, 3_602_600), 1_000, 0);
  const gaps = gapsOf(timeline);
  expect(gaps).toEqual([{ from: 1_600, to: 3_601_600 }]);
  const place = scaleOf(timeline, gaps);
  expect([place(1_000), place(3_602_600)]).toEqual([0, 1]);
  expect(place(3_601_600) - place(1_600)).toBeCloseTo(0.04);
  expect(place(1_800_000)).toBeGreaterThan(place(1_600));
  expect(scaleOf(timeline, [])(1_600)).toBeLessThan(0.001);
});

test('a loop is active between its two attempts, and until now if it has only one', () => {
  const loop = [{ id: 'each', type: 'for_each' }];
  const state = newRunState(['each']);
  const segmentsOf = (patch: Partial<StepState>) => {
    Object.assign(state.steps.get('each') ?? {}, patch);
    return timelineOf(loop, state, 1_000, 9_000).rows[0]?.segments.map(({ kind, from, to }) => `${kind} ${from}-${to}`);
  };
  const first = attempt(1_000, 1_100, 'completed');
  expect(segmentsOf({ status: 'running', attempts: [first] })).toEqual(['completed 1000-1100', 'running 1100-9000']);
  const second = attempt(4_000, 4_100, 'completed');
  expect(segmentsOf({ status: 'completed', attempts: [first, second], endedAt: 4_100 })).toEqual([
    'completed 1000-1100',
    'running 1100-4000',
    'completed 4000-4100',
  ]);
});

test('the turns and calls of an agent follow the agent, and nothing runs while the agent waits for a person', () => {
  const spec = [
    { id: 'research', type: 'agent' },
    { id: 'after', type: 'lua_script', depends_on: ['research'] },
  ];
  const state = newRunState(spec.map(({ id }) => id));
  const add = (id: string, type: string, dependsOn: string[], tool: string | null, patch: Partial<StepState>) =>
    state.steps.set(id, {
      id,
      status: 'completed',
      attempts: [],
      skipReason: null,
      error: null,
      continues: false,
      reused: false,
      dueAt: null,
      taskName: null,
      endedAt: null,
      credits: 0,
      childRun: null,
      ofAgent: { type, tool, closing: null, dependsOn },
      ...patch,
    });
  Object.assign(state.steps.get('research') ?? {}, {
    status: 'running',
    attempts: [attempt(1_000, 1_010, 'completed')],
  });
  add('research.1', 'agent_turn', [], null, { attempts: [attempt(1_020, 2_000, 'completed')], endedAt: 2_000 });
  add('research.1.1.ok', 'agent_approval', ['research.1'], 'send', {
    status: 'waiting',
    taskName: 'May it?',
    attempts: [attempt(2_000, null, 'waiting')],
  });
  add('research.1.1', 'agent_tool', ['research.1', 'research.1.1.ok'], 'send', { status: 'pending' });
  const timeline = timelineOf(spec, state, 1_000, 9_000);
  expect(
    timeline.rows.map(({ id, name, depth, segments }) => [
      id,
      name,
      depth,
      segments.map(({ kind, from, to }) => `${kind} ${from}-${to}`),
    ]),
  ).toEqual([
    ['research', null, 0, ['completed 1000-1010', 'inside 1010-9000']],
    ['research.1', 'Turn 1', 1, ['completed 1020-2000']],
    ['research.1.1.ok', 'Approval of send', 2, ['waiting 2000-9000']],
    ['research.1.1', 'send', 2, []],
    ['after', null, 0, []],
  ]);
  expect(gapsOf(timeline)).toEqual([{ from: 2_000, to: 9_000 }]);
});
