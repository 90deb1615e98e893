/** Returns a text in the form in which texts are compared: without case and accents. */
const plain = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

const wordsOf = (text: string): string[] =>
  plain(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** The scores of the ways in which a word is found, the best first. */
const SCORES = { whole: 1, start: 0.9, inside: 0.6, letters: 0.4, typo: 0.3 } as const;
/** A shorter word is found in too many places by its letters, or with a letter that differs. */
const MIN_FUZZY_LETTERS = 3;

/**
 * Returns how well a text answers a search, from 0 (not at all) to 1. Every word of the search is found in it, in any order: as a word,
 * as its beginning or a part of it, by some of its letters in their order, or with one letter that differs.
 */
export function matchScore(text: string, search: string): number {
  const wanted = wordsOf(search);
  if (wanted.length === 0) return 1;
  const words = wordsOf(text);
  const scores = wanted.map(word => scoreOf(word, words));
  if (scores.includes(0)) return 0;
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  // Of texts with the same words, the shorter one says less that was not searched for.
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

/** Whether a word begins with the first letter, and has the others in their order. */
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

/** Whether two letters beside each other are swapped, as in "wokrflow". */
function isSwapped(word: string, wanted: string): boolean {
  if (wanted.length <= MIN_FUZZY_LETTERS) return false;
  const at = [...wanted].findIndex((letter, index) => letter !== word[index]);
  if (at < 0) return false;
  const swapped = wanted.slice(0, at) + wanted.charAt(at + 1) + wanted.charAt(at) + wanted.slice(at + 2);
  return word.startsWith(swapped);
}

/** Words found by their first letters, such as "cw" for "Create workflow". */
function initialsScore(wanted: string, words: readonly string[]): number {
  if (wanted.length < 2) return 0;
  return words
    .map(word => word.charAt(0))
    .join('')
    .includes(wanted)
    ? SCORES.letters
    : 0;
}
