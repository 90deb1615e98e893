import { expect, test } from 'vitest';
import { warningText } from './allowance-notice.tsx';

test('a warning says what will happen, and mentions refusals only if there are any', () => {
  expect(warningText(80, { enforced: true, when_exhausted: 'fail' })).toBe('80% of the credits are used.');
  expect(warningText(100, { enforced: true, when_exhausted: 'fail' })).toMatch(/refused.*fail at their next step/);
  expect(warningText(100, { enforced: true, when_exhausted: 'pause' })).toMatch(/refused.*pause/);
  expect(warningText(100, { enforced: false, when_exhausted: 'pause' })).toMatch(/Runs continue/);
});
