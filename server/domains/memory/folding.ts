import { createHash } from 'node:crypto';

/**
 * Prepares text for search in this process, and not in PostgreSQL. With the locale C of the embedded database, PostgreSQL does not lower `Ü`,
 * and finds no trigrams beyond ASCII and no words in Chinese.
 */

/** Letters that Unicode does not decompose into a plain letter and a mark. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ł: 'l',
  þ: 'th',
  ı: 'i',
};
/** Matches text in scripts without blanks between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;

/** Returns a text in lower case without accents. Text without blanks is cut into overlapping pairs of characters, each of which is a word. */
export function fold(text: string): string {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(/[ßæœøđðłþı]/g, letter => PLAIN[letter] ?? letter);
  return plain.replace(UNSPACED, run => ` ${pairsOf(run).join(' ')} `);
}

function pairsOf(run: string): string[] {
  const signs = [...run];
  return signs.length < 2 ? signs : signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
}

const WORD = /[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}_.@:/'-]*[\p{L}\p{N}\p{M}])?/gu;

/** Returns the words of folded text, in order. An address or an identifier is one word. */
export const wordsOf = (folded: string): string[] => folded.match(WORD) ?? [];

/** The languages whose words are searched by their stems, with PostgreSQL's names, and the commonest words of each. */
const COMMON = {
  english:
    'the a an and or of to in is are was were be been it its that this these those for on with as at by from what which who whom when where why how do does did has have had not you your i my we our he she they them his her their me can could would should will about there',
  german:
    'der die das ein eine einen und oder von zu in ist sind war waren es dass fur mit auf als an bei aus was welche wer wann wo warum wie hat haben hatte nicht du ihr ich mein meine wir unser er sie den dem des im zum zur uber',
  french:
    'le la les un une des et ou de du a est sont etait que qui quoi pour avec dans sur par au aux ce cette ces il elle ils elles je tu nous vous mon ma mes ne pas quel quelle quand comment',
  spanish:
    'el la los las un una unos y o de del a es son era que quien para con en por al se su sus lo mi mis no cual cuando donde como esta este',
  italian:
    'il lo la gli le un una e o di del della a sono era che chi per con in su al si suo sua mi non quale quando dove come questo questa',
  portuguese:
    'o a os as um uma e ou de do da dos das em no na para com por que quem se seu sua nao qual quando onde como este esta sao foi',
  dutch:
    'de het een en of van te in is zijn was waren dat die voor met op als aan bij uit wat welke wie wanneer waar waarom hoe heeft hebben niet je ik mijn wij',
};
export type Language = keyof typeof COMMON;
const commonByLanguage = new Map<Language, ReadonlySet<string>>(
  Object.entries(COMMON).map(([language, words]) => [language as Language, new Set(words.split(' '))]),
);
const DEFAULT_LANGUAGE: Language = 'english';
/** The number of words from which the language of a text is determined. */
const SAMPLE_WORDS = 200;

/** Returns the language whose common words are the most frequent in a text. The default is English. */
export function languageOf(words: readonly string[]): Language {
  const sample = words.slice(0, SAMPLE_WORDS);
  let best = DEFAULT_LANGUAGE;
  let most = countIn(best, sample);
  for (const language of commonByLanguage.keys()) {
    const count = countIn(language, sample);
    if (count > most) [best, most] = [language, count];
  }
  return best;
}

function countIn(language: Language, words: readonly string[]): number {
  const common = commonByLanguage.get(language);
  return words.reduce((count, word) => count + (common?.has(word) ? 1 : 0), 0);
}

/** Returns whether the word is a common word of English or of `language`. */
export const isCommon = (word: string, language: Language): boolean =>
  commonByLanguage.get(DEFAULT_LANGUAGE)?.has(word) === true || commonByLanguage.get(language)?.has(word) === true;

/** The columns that make a text searchable. `plain`: the folded text without common words, which is indexed without stemming. */
export type Searchable = { folded: string; plain: string; language: Language; tokens: number };

/** Prepares a text for the index; `subject` is searched as well. */
export function searchable(text: string, subject = ''): Searchable {
  const folded = fold(subject === '' ? text : `${subject}\n${text}`);
  const words = wordsOf(folded);
  const language = languageOf(words);
  return {
    folded,
    plain: words.filter(word => !isCommon(word, language)).join(' '),
    language,
    tokens: estimateTokens(text),
  };
}

/** Estimates the tokens of a text: a token for four characters, and for each character of a script without blanks. */
export function estimateTokens(text: string): number {
  const signs = text.match(UNSPACED)?.reduce((sum, run) => sum + run.length, 0) ?? 0;
  return Math.max(1, Math.ceil((text.length - signs) / 4 + signs));
}

/** Returns the key by which subjects are compared: the words of the folded subject. */
export const subjectKey = (subject: string): string => wordsOf(fold(subject)).join(' ');

/** Returns a hash that is equal for texts that differ only in case, accents, blanks and punctuation. */
export function fingerprint(...texts: readonly string[]): Buffer {
  const words = texts.map(text => wordsOf(fold(text)).join(' '));
  return createHash('sha256').update(JSON.stringify(words)).digest();
}

/** Returns a text with single blanks, in the form in which it is compared with a quote. */
export const normalizeBlanks = (text: string): string => text.normalize('NFC').replace(/\s+/g, ' ').trim();
