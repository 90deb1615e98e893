import { expect, test } from 'vitest';
import { applyMessage } from './use-other-window.ts';

test('a window is known from its first message until it closes', () => {
  const none: ReadonlySet<string> = new Set();
  const one = applyMessage(none, { window: 'a', says: 'asks' });
  expect([...one]).toEqual(['a']);
  expect(applyMessage(one, { window: 'a', says: 'here' })).toBe(one);
  expect([...applyMessage(one, { window: 'b', says: 'here' })]).toEqual(['a', 'b']);
  expect([...applyMessage(one, { window: 'a', says: 'left' })]).toEqual([]);
  expect(applyMessage(none, { window: 'a', says: 'left' })).toBe(none);
});
