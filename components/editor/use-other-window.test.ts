import { expect, test } from 'vitest';
import { withWord } from './use-other-window.ts';

test('a window is known from its first message until it closes', () => {
  const none: ReadonlySet<string> = new Set();
  const one = withWord(none, { window: 'a', says: 'asks' });
  expect([...one]).toEqual(['a']);
  expect(withWord(one, { window: 'a', says: 'here' })).toBe(one);
  expect([...withWord(one, { window: 'b', says: 'here' })]).toEqual(['a', 'b']);
  expect([...withWord(one, { window: 'a', says: 'left' })]).toEqual([]);
  expect(withWord(none, { window: 'a', says: 'left' })).toBe(none);
});
