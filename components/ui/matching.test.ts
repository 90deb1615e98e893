import { describe, expect, test } from 'vitest';
import { matchScore } from './matching.ts';

const TEXTS = [
  'Create workflow',
  'Order to invoice',
  'Expense approval',
  'Run Order to invoice',
  'Crème brûlée',
  'API keys',
];
const matchingLabels = (search: string) =>
  TEXTS.filter(text => matchScore(text, search) > 0).toSorted((a, b) => matchScore(b, search) - matchScore(a, search));

describe('a search finds', () => {
  test.each([
    ['words in any order', 'workflow create', ['Create workflow']],
    ['parts of words', 'voice ord', ['Order to invoice', 'Run Order to invoice']],
    ['texts that begin with the word first', 'order', ['Order to invoice', 'Run Order to invoice']],
    ['letters that are left out', 'wrkflw', ['Create workflow']],
    ['letters that are swapped', 'wokrflow', ['Create workflow']],
    ['a letter that differs', 'invoize', ['Order to invoice', 'Run Order to invoice']],
    ['first letters', 'cw', ['Create workflow']],
    ['letters without their accents', 'creme', ['Crème brûlée']],
    ['another case', 'API KEYS', ['API keys']],
    ['nothing where one word is missing', 'order nonsense', []],
  ])('%s', (_, search, texts) => expect(matchingLabels(search)).toEqual(texts));

  test('everything matches an empty search', () => expect(matchingLabels('  ')).toHaveLength(TEXTS.length));

  test('short words match only as a whole or as a part of a word', () => expect(matchingLabels('xz')).toEqual([]));
});
