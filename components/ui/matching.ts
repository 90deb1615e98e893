/** Normalizes a text for comparison: without case and accents. */
const plain = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

const wordsOf = (text: string): string[] =>
  plain(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** The scores of the kinds of matches, from best to worst. */
const SCORES = { whole: 1, start: 0.9, inside: 0.6, letters: 0.4, typo: 0.3 } as const;
/** A shorter word would match too many texts by scattered letters or with a typo. */
const MIN_FUZZY_LETTERS = 3;

/**
 * Returns how well a text matches a search, from 0 (not at all) to 1. Every word of the search must be found, in any order: as a word, as
 * its beginning or a part of it, by some of its letters in order, or with one different letter.
 */
export function matchScore(text: string, search: string): number {
  const wanted = wordsOf(search);
  if (wanted.length === 0) return 1;
  const words = wordsOf(text);
  const scores = wanted.map(word => scoreOf(word, words));
  if (scores.includes(0)) return 0;
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  // Among texts with the same matches, the one with fewer other words is better.
  return mean * (0.9 + 0.1 * Math.min(1, wanted.length / Math.max(1, words.length)));
}

function scoreOf(wanted: string, words: readonly string[]): number {
  const scores = words.map(word => {
    if (word === wanted) return SCORES.whole;
    if (word.startsWith(wanted)) return SCORES.start;
    if (word.includes(wanted)) return SCORES.inside;
    if (wanted.length < MIN_FUZZY_LETTERS) return 0;
    if (hasLetters(word, wanted)) return SCORES.letters;
    return differsInOne(word.slice(0, wanted.length), wanted) || isSwapped(word, wanted) ? SCORES.typo : 0;
  });
  return Math.max(0, ...scores, initialsScore(wanted, words));
}

/** Returns true if a word starts with the first letter and contains the other letters in order. */
function hasLetters(word: string, wanted: string): boolean {
  if (word[0] !== wanted[0]) return false;
  let at = 0;
  for (const letter of word) if (letter === wanted[at]) at += 1;
  return at === wanted.length;
}

function differsInOne(word: string, wanted: string): boolean {
  if (word.length !== wanted.length || wanted.length <= MIN_FUZZY_LETTERS) return false;
  return [...word].filter((letter, at) => letter !== wanted[at]).length === 1;
}

/** Returns true if two adjacent letters are swapped, as in "wokrflow". */
function isSwapped(word: string, wanted: string): boolean {
  if (wanted.length <= MIN_FUZZY_LETTERS) return false;
  const at = [...wanted].findIndex((letter, index) => letter !== word[index]);
  if (at < 0) return false;
  const swapped = wanted.slice(0, at) + wanted.charAt(at + 1) + wanted.charAt(at) + wanted.slice(at + 2);
  return word.startsWith(swapped);
}

/** Scores a match of the words' first letters, such as "cw" for "Create workflow". */
function initialsScore(wanted: string, words: readonly string[]): number {
  if (wanted.length < 2) return 0;
  return words
    .map(word => word.charAt(0))
    .join('')
    .includes(wanted)
    ? SCORES.letters
    : 0;
}
