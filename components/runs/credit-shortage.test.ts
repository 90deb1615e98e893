import { expect, test } from 'vitest';
import { shortageOf } from './credit-shortage.tsx';
import { newRunView } from './run-view.ts';

test('a run stands or fails for want of credits only where the engine says so', () => {
  const paused = { ...newRunView([]), status: 'paused' as const };
  expect(shortageOf({ ...paused, pauseReason: 'insufficient_credits' }, undefined)).toBe('paused');
  expect(shortageOf(paused, undefined)).toBeNull();
  expect(shortageOf({ ...paused, status: 'failed' }, 'insufficient_credits')).toBe('failed');
  expect(shortageOf({ ...paused, status: 'failed' }, 'lua_error')).toBeNull();
  expect(shortageOf(null, 'insufficient_credits')).toBe('failed');
});
