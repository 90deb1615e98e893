import { expect, test } from 'vitest';
import { namesOf, otherSide, presenceOf } from './people.ts';

const people = (...names: string[]) => names.map(name => ({ id: name.toLowerCase(), name }));

test.each([
  [['Ada'], 'Ada'],
  [['Ada', 'Bob'], 'Ada and Bob'],
  [['Ada', 'Bob', 'Cy'], 'Ada, Bob, and Cy'],
  [['Ada', 'Bob', 'Cy', 'Di'], 'Ada, Bob, and 2 others'],
])('%j are named %j', (names, text) => expect(namesOf(people(...names))).toBe(text));

test('other editors and another window of the user are announced', () => {
  expect(presenceOf(people('Ada'), false)).toBe('Ada is editing');
  expect(presenceOf(people('Ada', 'Bob'), true)).toBe('Ada and Bob are editing. You are editing in another window');
  expect(presenceOf([], true)).toBe('You are editing in another window');
});

test('the other side of a conflict is named after the person who saved it', () => {
  expect(otherSide(people('Ada', 'Me'), 'me')).toBe('Ada');
  expect(otherSide(people('Me'), 'me')).toBe('You, in another window or with an API key,');
  expect(otherSide([], 'me')).toBe('Someone else');
});
