import { expect, test } from 'vitest';
import { mentionAt } from './mention-query.ts';

test.each([
  ['@', { start: 0, query: '' }],
  ['Why did @Nightly rep', { start: 8, query: 'Nightly rep' }],
  ['(@a', { start: 1, query: 'a' }],
  ['first\n@b', { start: 6, query: 'b' }],
  ['ada@example.com', null],
  ['come @ six', null],
  ['@a\nb', null],
  ['[@a](/agents/1) ', null],
  [`@${'a'.repeat(61)}`, null],
  ['none', null],
])('the mention in %j', (text, mention) => {
  expect(mentionAt(text, text.length)).toEqual(mention);
});

test('only text before the caret counts', () => {
  expect(mentionAt('@abc', 2)).toEqual({ start: 0, query: 'a' });
  expect(mentionAt('@abc', 0)).toBeNull();
});
