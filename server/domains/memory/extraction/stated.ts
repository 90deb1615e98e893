import { fold, isCommon, languageOf, normalizeBlanks, wordsOf } from '../folding.ts';

/** The words that negate a statement, in the languages whose common words are known. */
const NEGATIONS: ReadonlySet<string> = new Set(
  'not no never none cannot without nicht kein keine keinen keiner nie niemals ohne ne pas jamais sans nunca sin non mai senza nao nem sem niet geen nooit zonder'.split(
    ' ',
  ),
);
/** How a model names the person who says `I`. */
const SPEAKER = 'user';
/** Words that begin with so many of the same letters are forms of one. */
const STEM = 4;
/** More letters than these at the end make another word of it. */
const LONGEST_ENDING = 3;

const bare = (word: string): string => word.replace(/'s$/, '');
const isNegation = (word: string): boolean => NEGATIONS.has(word) || word.endsWith("n't");

/** The words that say what a text is about, without accents. */
function tellingWords(text: string): string[] {
  const words = wordsOf(fold(text.replaceAll('’', "'"))).map(bare);
  const language = languageOf(words);
  return words.filter(word => !isNegation(word) && !isCommon(word, language));
}

const denies = (text: string): boolean => wordsOf(fold(text.replaceAll('’', "'"))).some(isNegation);

/** `takes` is a form of `take`; names and numbers have no forms. */
function isFormOf(word: string, said: string): boolean {
  if (word === said) return true;
  if (/\d/.test(word) || Math.min(word.length, said.length) < STEM) return false;
  let same = 0;
  while (same < word.length && word[same] === said[same]) same += 1;
  return same >= STEM && Math.max(word.length, said.length) - same <= LONGEST_ENDING;
}

/** The sentence of a message in which a quote stands; all of the message where it goes beyond one. */
function sentenceAround(quote: string, message: string): string {
  const wanted = normalizeBlanks(quote);
  const whole = normalizeBlanks(message);
  return whole.split(/(?<=[.!?。！？])\s*/u).find(sentence => sentence.includes(wanted)) ?? whole;
}

/** The statement that a person makes around a quote. A question states nothing. */
export type Statement = { telling: readonly string[]; isDenied: boolean };

/** Reads the sentence around a quote. The request to remember it, such as `do not forget`, denies nothing. */
export function statementOf(quote: string, message: string, askedQuote: string): Statement {
  const sentence = sentenceAround(quote, message);
  if (/[?？]["'”’)]*$/u.test(sentence)) return { telling: [], isDenied: false };
  const [stated, asked] = [normalizeBlanks(quote), normalizeBlanks(askedQuote)];
  const request = asked.includes(stated) ? asked.slice(0, asked.indexOf(stated)) : asked;
  return { telling: tellingWords(sentence), isDenied: denies(sentence.replace(request, ' ')) };
}

/**
 * Whether a text says what a person has stated: it denies what they denied, and every word that tells something stands there in some form.
 * A model may misread even what it quotes rightly.
 */
export function isStated(text: string, { telling: said, isDenied }: Statement): boolean {
  if (denies(text) !== isDenied) return false;
  const telling = tellingWords(text);
  return telling.length > 0 && telling.every(word => word === SPEAKER || said.some(each => isFormOf(word, each)));
}

/** Whether two texts tell the same with the same words in any order, or the second one less. */
export function saysNoMore(known: string, text: string): boolean {
  if (denies(known) !== denies(text)) return false;
  const words = tellingWords(known);
  const telling = tellingWords(text);
  return telling.length > 0 && telling.every(word => words.some(each => isFormOf(word, each)));
}

/** Sorts what tells more before what tells less, and of two texts that tell as much the shorter one. */
export const byFullness = (one: string, other: string): number =>
  new Set(tellingWords(other)).size - new Set(tellingWords(one)).size || one.length - other.length;
