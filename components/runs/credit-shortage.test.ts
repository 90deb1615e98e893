import { expect, test } from 'vitest';
import { newRunState } from '@/server/domains/runs/reading/run-state.ts';
import { shortageOf } from './credit-shortage.tsx';

test('lack of credits counts as the cause only if the engine reports it', () => {
  const paused = { ...newRunState([]), status: 'paused' as const };
  expect(shortageOf({ ...paused, pauseReason: 'insufficient_credits' }, undefined)).toBe('paused');
  expect(shortageOf(paused, undefined)).toBeNull();
  expect(shortageOf({ ...paused, status: 'failed' }, 'insufficient_credits')).toBe('failed');
  expect(shortageOf({ ...paused, status: 'failed' }, 'lua_error')).toBeNull();
  expect(shortageOf(newRunState([]), 'insufficient_credits')).toBe('failed');
});
