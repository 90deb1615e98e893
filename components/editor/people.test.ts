import { expect, test } from 'vitest';
import { namesOf, otherSide } from './people.ts';

const people = (...names: string[]) => names.map(name => ({ id: name.toLowerCase(), name }));

test.each([
  [['Ada'], 'Ada'],
  [['Ada', 'Bob'], 'Ada and Bob'],
  [['Ada', 'Bob', 'Cy'], 'Ada, Bob, and Cy'],
  [['Ada', 'Bob', 'Cy', 'Di'], 'Ada, Bob, and 2 others'],
])('%j are named %j', (names, text) => expect(namesOf(people(...names))).toBe(text));

test('the other side of a conflict is named by who saved it', () => {
  expect(otherSide(people('Ada', 'Me'), 'me')).toBe('Ada');
  expect(otherSide(people('Me'), 'me')).toBe('You, in another window or with a token,');
  expect(otherSide([], 'me')).toBe('Somebody else');
});
