import { expect, test } from 'vitest';
import { changeText } from './changed-arguments.ts';
import type { JsonValue } from './events.ts';

const by = 'ann@x.org';

test('names who changed which fields, and how', () => {
  const asked = { to: 'bob', order: { amount: 5, note: 'x' }, cc: ['a'] };
  const given = { to: 'eve', order: { amount: 7, note: 'x' }, bcc: 'z' };
  expect(changeText(asked, { arguments: given, completed_by: by })).toBe(
    'ann@x.org changed the arguments. to: "bob" → "eve"; order.amount: 5 → 7; cc: ["a"] → absent; bcc: absent → "z"',
  );
});

test('does not mention unchanged arguments, or arguments that were not given', () => {
  expect(changeText({ a: 1, b: 2 }, { arguments: { b: 2, a: 1 }, completed_by: by })).toBeNull();
  const answers: JsonValue[] = [null, { reason: 'x' }, { arguments: null }, { arguments: 'x' }, 7];
  for (const answer of answers) expect(changeText({ a: 1 }, answer)).toBeNull();
});

test('is short, however many arguments were changed', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, 'x'.repeat(5_000)]));
  const text = changeText({}, { arguments: many, completed_by: by }) ?? '';
  expect(text).toContain('30 more');
  expect(text.length).toBeLessThan(5_000);
});
