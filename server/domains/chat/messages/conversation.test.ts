import { expect, test } from 'vitest';
import { conversationOf, MAX_HISTORY_CHARS, type Said } from './conversation.ts';

const user = (text: string): Said => ({ role: 'user', text, summary: null });
const assistant = (text: string, history?: number): Said => ({
  role: 'assistant',
  text,
  summary: history === undefined ? null : { text: `of ${history}`, messages: 2 * history, history },
});
const shown = (branch: readonly Said[]): [role: string, texts: string[]][] =>
  conversationOf(branch).map(({ role, content }) => [
    role,
    (typeof content === 'string' ? [] : content).map(part => (part.type === 'text' ? part.text : '')),
  ]);

test('a conversation is given as a whole up to a length; of a longer one the end, and how much is missing', () => {
  const half = MAX_HISTORY_CHARS / 2;
  for (const fits of [half - 1, half])
    expect(shown([user('a'.repeat(fits)), assistant('b'.repeat(half))])).toEqual([
      ['user', ['a'.repeat(fits)]],
      ['assistant', ['b'.repeat(half)]],
    ]);
  const [first, second] = shown([user('x'), assistant('y'), user('a'.repeat(half + 1)), assistant('b'.repeat(half))]);
  expect(first).toEqual(['user', [expect.stringContaining('The 3 messages before this one')]]);
  expect(second).toEqual(['assistant', ['b'.repeat(half)]]);
});

test('an answer that says nothing is told, because providers want people and models in turns', () => {
  expect(shown([user('one'), assistant(''), user('two'), assistant('2')]).map(([, [text]]) => text)).toEqual([
    'one',
    '[No answer.]',
    'two',
    '2',
  ]);
});

test('what an earlier run has summarised stays summarised', () => {
  const begun = [
    user('1'),
    assistant('A'),
    user('2'),
    assistant('B'),
    user('3'),
    assistant('C', 1),
    user('4'),
    assistant('D'),
  ];
  // The run of C was given two units, and left one out.
  expect(shown(begun)).toEqual([
    ['user', ['Summary of the 2 messages of this conversation that are left out here:\n\nof 1', '2']],
    ['assistant', ['B']],
    ['user', ['3']],
    ['assistant', ['C']],
    ['user', ['4']],
    ['assistant', ['D']],
  ]);
  // The run of E was given what is shown above, in three units, and left two of them out.
  const [first, ...rest] = shown([...begun, user('5'), assistant('E', 2)]);
  expect(first).toEqual(['user', [expect.stringContaining('of 2'), '4']]);
  expect(rest.map(([, [text]]) => text)).toEqual(['D', '5', 'E']);
});

test('a run that has left out everything leaves the message that it answered', () => {
  expect(shown([user('1'), assistant('A'), user('2'), assistant('B', 1)])).toEqual([
    ['user', [expect.stringContaining('of 1'), '2']],
    ['assistant', ['B']],
  ]);
});
