import { describe, expect, test } from 'vitest';
import type { ChunkRow } from '../episodes/store.ts';
import { groundCandidates } from './candidates.ts';

type Said = readonly [role: 'user' | 'assistant', text: string];

const messagesOf = (...turns: Said[]) =>
  turns.map(([role, text], at) => ({ chunk: { id: `${at}`, role, trust: 'trusted' } as ChunkRow, text }));

const claim = (text: string, quote: string, asked_quote: string, message = 1) => ({
  subject: 'subject',
  kind: 'fact' as const,
  text,
  quote,
  asked_quote,
  message,
});

const ground = (turns: Said[], ...claims: ReturnType<typeof claim>[]) =>
  groundCandidates(claims, { messages: messagesOf(...turns), isSecret: () => false }).grounded;

describe('an item that the user asked for is active at once', () => {
  test.each([
    [
      'in other forms of their words',
      'Remember: I take the train at 9.',
      'The user takes the train at 9.',
      'the train at 9',
    ],
    ['if the request contains “not”', 'Do not forget: Ann lives in Oslo.', 'Ann lives in Oslo.', 'Ann lives in Oslo'],
    [
      'if the statement is negated',
      'Remember: Ann does not eat milk.',
      'Ann does not eat milk.',
      'Ann does not eat milk',
    ],
    ['in another language', 'Merk dir: Zoës Büro ist in Köln.', 'Zoes Büro ist in Köln.', 'Büro ist in Köln'],
    ['in a script without blanks', '记住：安娜住在里斯本。', '安娜住在里斯本。', '安娜住在里斯本'],
  ])('%s', (_, said, text, quote) => {
    const asked = /^[^:：]+/u.exec(said)?.[0] ?? '';
    expect(ground([['user', said]], claim(text, quote, asked))).toMatchObject([{ asked: true }]);
  });

  test('if the next message contains only the request', () => {
    const turnsBefore = (next: string): Said[] => [
      ['user', 'I moved to Porto.'],
      ['assistant', 'How nice.'],
      ['user', next],
    ];
    const moved = claim('The user moved to Porto.', 'moved to Porto', 'remember that');
    expect(ground(turnsBefore('Please remember that.'), moved)).toMatchObject([{ asked: true }]);
    expect(ground(turnsBefore('Please remember that the office is in Turin.'), moved)).toMatchObject([
      { asked: false },
    ]);
  });
});

describe('an item is proposed for review if the model states', () => {
  test.each([
    ['another value', 'Remember: Ann lives in Oslo.', 'Ann lives in Rome.'],
    ['another number', 'Remember: Ann lives in Oslo 12.', 'Ann lives in Oslo 123.'],
    ['the opposite', 'Remember: Ann lives in Oslo.', 'Ann never lives in Oslo.'],
    ['a denial that is left out', 'Remember: no longer true that Ann lives in Oslo.', 'Ann lives in Oslo.'],
    ['a question', 'Remember: does Ann live in Oslo?', 'Ann lives in Oslo.'],
    ['more than was said', 'Remember: Ann lives in Oslo.', 'Ann lives in Oslo with a dog.'],
    ['nothing that tells something', 'Remember: Ann lives in Oslo.', 'It is.'],
  ])('%s', (_, turnsBefore, text) => {
    const quote = /Ann lives? in Oslo/.exec(turnsBefore)?.[0] ?? '';
    expect(ground([['user', turnsBefore]], claim(text, quote, 'Remember'))).toMatchObject([{ asked: false }]);
  });
});

test('repeated candidates of one message are one, and requested candidates come first', () => {
  const said = 'Remember: the dog of Ann is called Rex, and the cat Tom.';
  const quote = 'dog of Ann is called Rex';
  const kept = ground(
    [['user', said]],
    claim('Ann has a dog that is called Rex.', quote, ''),
    claim('Rex is the dog of Ann.', quote, 'Remember'),
    claim('Ann’s dog is called Rex. Ann’s dog is called Rex.', quote, 'Remember'),
    claim('Ann’s dog is called Rex.', quote, 'Remember'),
    claim('The cat of Ann is called Tom.', 'cat Tom', 'Remember'),
  );
  expect(kept.map(({ text, asked }) => [text, asked])).toEqual([
    ['Ann’s dog is called Rex.', true],
    ['The cat of Ann is called Tom.', true],
  ]);
});
