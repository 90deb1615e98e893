import { expect, test } from 'vitest';
import type { StepEventRow } from '../store.ts';
import { summarise } from './summary.ts';

const event = (type: string, step: string, second: number, more: Partial<StepEventRow> = {}): StepEventRow => ({
  event_type: type,
  step_id: step,
  attempt: 1,
  skip_reason: null,
  error: null,
  credits: 0,
  child_run: null,
  created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
  ...more,
});
const steps = ['a', 'b', 'c', 'd', 'e', 'f'].map(id => ({ id, type: 'lua_script' }));
const boom = { code: 'lua_error', message: 'boom' };

test('shows the status of every step, in the order of the graph', () => {
  const events = [
    event('step_started', 'a', 1),
    event('step_completed', 'a', 2),
    event('step_started', 'b', 3),
    event('step_retrying', 'b', 4, { error: boom }),
    event('step_started', 'c', 4),
    event('step_failed', 'c', 5, { error: boom }),
    event('step_started', 'd', 5),
    event('step_cancelled', 'd', 6),
    event('step_completed', 'e', 6, { attempt: null, skip_reason: 'blocked' }),
  ];
  const found = summarise(steps, events);
  expect(found.map(step => [step.step_id, step.status])).toEqual([
    ['a', 'completed'],
    ['b', 'retrying'],
    ['c', 'failed'],
    ['d', 'cancelled'],
    ['e', 'skipped'],
    ['f', 'pending'],
  ]);
  expect(found[0]).toMatchObject({ started_at: '2026-01-01T00:00:01.000Z', ended_at: '2026-01-01T00:00:02.000Z' });
  expect(found[1]).toMatchObject({ error: boom, ended_at: null });
  expect(found[2]).toMatchObject({ error: boom });
  expect(found[4]).toMatchObject({ skip_reason: 'blocked', started_at: null, attempt: 0 });
});

test('drops the error of an attempt once the next one starts, and keeps the first start', () => {
  const [step] = summarise(
    [{ id: 'a', type: 'lua_script', name: 'A' }],
    [
      event('step_started', 'a', 1),
      event('step_retrying', 'a', 2, { error: boom }),
      event('step_started', 'a', 3, { attempt: 2 }),
      event('step_completed', 'a', 4, { attempt: 2 }),
    ],
  );
  expect(step).toMatchObject({
    name: 'A',
    status: 'completed',
    attempt: 2,
    error: null,
    started_at: '2026-01-01T00:00:01.000Z',
  });
});

test('a human task waits, and its answer does not end the step by itself', () => {
  const events = [event('step_started', 'a', 1), event('task_pending', 'a', 1)];
  expect(summarise(steps, events)[0]).toMatchObject({ status: 'waiting', ended_at: null });
  const answered = [...events, event('task_completed', 'a', 2)];
  expect(summarise(steps, answered)[0]).toMatchObject({ status: 'ready', ended_at: null });
});
