import { expect, test } from 'vitest';
import { applyEvent, newRunState } from '@/server/domains/runs/reading/run-state.ts';
import { groupsOf, matchingGroups } from './event-groups.ts';

const run = { started_at: '2026-11-27T10:00:00.000Z', started_by: 'ada@acme.test', trigger_type: 'api' };
const steps = [
  { id: 'add', type: 'lua_script', name: 'Add up' },
  { id: 'check', type: 'lua_script' },
  { id: 'after', type: 'lua_script' },
];

/** Returns the state of a run whose second step fails after a retry. */
function failedRun() {
  const state = newRunState(steps.map(({ id }) => id));
  const error = { code: 'lua_error', message: 'too much' };
  const events: [number, string, string | undefined, object][] = [
    [0, 'run_started', undefined, {}],
    [10, 'step_started', 'add', {}],
    [30, 'step_completed', 'add', { result: 1 }],
    [40, 'step_started', 'check', {}],
    [50, 'step_retrying', 'check', { error, delay_ms: 100 }],
    [150, 'step_started', 'check', {}],
    [170, 'step_failed', 'check', { error }],
    [170, 'step_completed', 'after', { skipped: true, reason: 'run_failed' }],
    [170, 'state_changed', undefined, { from: 'running', to: 'failed', error: { ...error, step_id: 'check' } }],
  ];
  for (const [index, [at, event_type, step_id, data]] of events.entries()) {
    const created_at = new Date(Date.parse(run.started_at) + at).toISOString();
    applyEvent(state, {
      seq: index + 1,
      event_type,
      data: data as Record<string, never>,
      created_at,
      ...(step_id && { step_id }),
    });
  }
  return state;
}
const textsOf = (groups: ReturnType<typeof groupsOf>) =>
  groups.map(({ title, sentences }) => [title, ...sentences.map(({ text }) => text)]);

test('a run is described in sentences, grouped by step', () => {
  expect(textsOf(groupsOf(run, failedRun(), steps))).toEqual([
    ['Run', 'Started by ada@acme.test (api)', 'Failed: too much'],
    ['Add up', 'Started', 'Succeeded after 20 ms'],
    ['check', 'Attempt 1 started', 'Failed after 10 ms: too much', 'Attempt 2 started', 'Failed after 20 ms: too much'],
    ['after', 'Was skipped: run failed'],
  ]);
});

test('groups are filtered by text, by step and by failure', () => {
  const groups = groupsOf(run, failedRun(), steps);
  const matchingTitles = (patch: object) =>
    matchingGroups(groups, { q: '', failuresOnly: false, step: '', ...patch }).map(({ title }) => title);
  expect(matchingTitles({ q: 'TOO MUCH' })).toEqual(['Run', 'check']);
  expect(matchingTitles({ failuresOnly: true })).toEqual(['Run', 'check']);
  expect(matchingTitles({ step: 'add' })).toEqual(['Add up']);
  expect(matchingTitles({ q: 'nowhere' })).toEqual([]);
});
