import { expect, test } from 'vitest';
import { type BranchMessage, conversationOf, MAX_HISTORY_CHARS } from './conversation.ts';

const user = (text: string): BranchMessage => ({ role: 'user', text, summary: null });
const assistant = (text: string, history?: number): BranchMessage => ({
  role: 'assistant',
  text,
  summary: history === undefined ? null : { text: `of ${history}`, messages: 2 * history, history },
});
const rolesAndTexts = (branch: readonly BranchMessage[]): [role: string, texts: string[]][] =>
  conversationOf(branch).map(({ role, content }) => [
    role,
    (typeof content === 'string' ? [] : content).map(part => (part.type === 'text' ? part.text : '')),
  ]);

test('a long conversation is cut to its end with a note on the number of missing messages', () => {
  const half = MAX_HISTORY_CHARS / 2;
  for (const fits of [half - 1, half])
    expect(rolesAndTexts([user('a'.repeat(fits)), assistant('b'.repeat(half))])).toEqual([
      ['user', ['a'.repeat(fits)]],
      ['assistant', ['b'.repeat(half)]],
    ]);
  const [first, second] = rolesAndTexts([
    user('x'),
    assistant('y'),
    user('a'.repeat(half + 1)),
    assistant('b'.repeat(half)),
  ]);
  expect(first).toEqual(['user', [expect.stringContaining('The 3 messages before this one')]]);
  expect(second).toEqual(['assistant', ['b'.repeat(half)]]);
});

test('an empty answer is replaced by a note, because providers require alternating roles', () => {
  expect(rolesAndTexts([user('one'), assistant(''), user('two'), assistant('2')]).map(([, [text]]) => text)).toEqual([
    'one',
    '[No answer.]',
    'two',
    '2',
  ]);
});

test('the summary of an earlier run is used again', () => {
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
  // The run of answer C had two units and summarised one.
  expect(rolesAndTexts(begun)).toEqual([
    ['user', ['Summary of the 2 messages of this conversation that are left out here:\n\nof 1', '2']],
    ['assistant', ['B']],
    ['user', ['3']],
    ['assistant', ['C']],
    ['user', ['4']],
    ['assistant', ['D']],
  ]);
  // The run of answer E had the messages above as three units and summarised two.
  const [first, ...rest] = rolesAndTexts([...begun, user('5'), assistant('E', 2)]);
  expect(first).toEqual(['user', [expect.stringContaining('of 2'), '4']]);
  expect(rest.map(([, [text]]) => text)).toEqual(['D', '5', 'E']);
});

test('a run that has summarised all earlier messages keeps the message that it answered', () => {
  expect(rolesAndTexts([user('1'), assistant('A'), user('2'), assistant('B', 1)])).toEqual([
    ['user', [expect.stringContaining('of 1'), '2']],
    ['assistant', ['B']],
  ]);
});
