import { expect, test } from 'vitest';
import { factsOf } from './call-events.ts';

const at = (second: number) => `2026-03-01T10:00:0${second}.000Z`;
const event = (event_type: string, second: number, data = {}) => ({ event_type, created_at: at(second), data });

test('the duration of a call spans all attempts, and its cost is the sum of theirs', () => {
  const events = [
    event('step_started', 1),
    event('step_retrying', 2, { credits: 3 }),
    event('step_started', 4),
    event('step_completed', 5, { credits: 4 }),
  ];
  expect(factsOf(events)).toEqual({ ms: 4_000, credits: 7, attempts: 2 });
});

test('returns no facts for a call that has not ended or was never made', () => {
  expect(factsOf([event('step_started', 1)])).toBeNull();
  expect(factsOf([event('step_skipped', 1)])).toBeNull();
});
