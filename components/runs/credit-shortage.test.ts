import { expect, test } from 'vitest';
import { newRunState } from '@/server/domains/runs/reading/run-state.ts';
import { shortageOf } from './credit-shortage.tsx';

test('a run counts as paused or failed for lack of credits only if the engine says so', () => {
  const paused = { ...newRunState([]), status: 'paused' as const };
  expect(shortageOf({ ...paused, pauseReason: 'insufficient_credits' }, undefined)).toBe('paused');
  expect(shortageOf(paused, undefined)).toBeNull();
  expect(shortageOf({ ...paused, status: 'failed' }, 'insufficient_credits')).toBe('failed');
  expect(shortageOf({ ...paused, status: 'failed' }, 'lua_error')).toBeNull();
  expect(shortageOf(newRunState([]), 'insufficient_credits')).toBe('failed');
});
