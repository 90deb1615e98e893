import { fold, isCommon, languageOf, normalizeBlanks, wordsOf } from '../folding.ts';
import { isConditional, requestIn, sentencesOf } from './request.ts';

/** The words that negate a statement, in the languages of folding.ts. */
const NEGATIONS: ReadonlySet<string> = new Set(
  'not no never none nothing nobody cannot without nicht nichts niemand kein keine keinen keiner nie niemals ohne ne pas rien jamais sans nunca nada nadie sin non niente mai senza nao nem sem niets niet geen nooit zonder'.split(
    ' ',
  ),
);
/** The word with which a model replaces `I`. */
const SPEAKER = 'user';
/** The minimum number of letters that two forms of a word have in common at their beginning. */
const MIN_STEM_LETTERS = 4;
/** The maximum number of letters in which two forms of a word differ at their end. */
const MAX_ENDING_LETTERS = 3;
/** The maximum number of words of a subject that is a name. A longer subject counts as a statement. */
const MAX_NAME_WORDS = 5;

const bare = (word: string): string => word.replace(/'s$/, '');
const isNegation = (word: string): boolean => NEGATIONS.has(word) || word.endsWith("n't");

/** Returns the content words of a text, folded: all words but common words and negations. */
export function contentWords(text: string): string[] {
  const words = wordsOf(fold(text.replaceAll('’', "'"))).map(bare);
  const language = languageOf(words);
  return words.filter(word => !isNegation(word) && !isCommon(word, language));
}

const denies = (text: string): boolean => wordsOf(fold(text.replaceAll('’', "'"))).some(isNegation);

/** Returns whether two words are forms of one word, such as `takes` and `take`. Numbers and addresses have no forms. */
function isFormOf(word: string, said: string): boolean {
  if (word === said) return true;
  if (/[\d@/]/.test(word) || Math.min(word.length, said.length) < MIN_STEM_LETTERS) return false;
  let same = 0;
  while (same < word.length && word[same] === said[same]) same += 1;
  return same >= MIN_STEM_LETTERS && Math.max(word.length, said.length) - same <= MAX_ENDING_LETTERS;
}

/** The sentences of a text that state something. */
export type Statement = readonly Sentence[];
type Sentence = { telling: readonly string[]; isDenied: boolean; isConditional: boolean };

/** Reads the sentences of a text that contain a part of the quote. */
export const statementOf = (quote: string, text: string): Statement =>
  sentencesAround(quote, sentencesOf(text)).flatMap(readSentence);

/** Reads what a sentence states; empty for a question. The `not` of a request such as `do not forget` is no negation. */
export function readSentence(sentence: string): Sentence[] {
  if (/[?？]["'”’)]*$/u.test(sentence)) return [];
  const isDenied = denies(requestIn(sentence)?.what ?? sentence);
  return [{ telling: contentWords(sentence), isDenied, isConditional: isConditional(sentence) }];
}

/** Returns the sentences that contain a part of the quote. */
export function sentencesAround(quote: string, sentences: readonly string[]): string[] {
  const wanted = normalizeBlanks(quote);
  const whole = sentences.join(' ');
  const from = wanted === '' ? -1 : whole.indexOf(wanted);
  if (from < 0) return [];
  const to = from + wanted.length;
  let start = 0;
  return sentences.filter(({ length }) => {
    const [begin, end] = [start, start + length];
    start = end + 1;
    return begin < to && end > from;
  });
}

export type Claim = { subject: string; text: string };

/**
 * Returns whether one of the sentences states the claim. The claim and the sentence are both negated or both not, both conditional or both
 * not, and every content word of the claim occurs in the sentence in some form. This guards against models that misread a correct quote. The
 * subject may use other words than the sentence if it is a name.
 */
export function isStated({ subject, text }: Claim, statement: Statement): boolean {
  const telling = contentWords(text);
  const names = contentWords(subject);
  return (
    telling.length > 0 &&
    statement.some(({ telling: said, isDenied, isConditional: isMaybe }) => {
      const isSaid = (word: string) => word === SPEAKER || said.some(each => isFormOf(word, each));
      const isName = names.length <= MAX_NAME_WORDS && names.every(word => !/[\d@/:]/.test(word) || isSaid(word));
      const isAlike = denies(text) === isDenied && isConditional(text) === isMaybe;
      return isAlike && telling.every(isSaid) && (isName || names.every(isSaid));
    })
  );
}

/** Matches words that express a change. */
const CHANGE =
  /(?<![\p{L}\p{N}])(?:now|moved?|moving|chang\w*|new|instead|no longer|any ?more|since|bec[ao]me|switch\w*|replac\w*|left|used to|jetzt|nun|umgezogen|zog|neue?[rnsm]?|statt|stattdessen|nicht mehr|seit|geändert|gewechselt|maintenant|désormais|déménagé\w*|nouve\w+|plus|depuis|ahora|mudé|mudado|nuev[oa]s?|ya no|desde|ora|adesso|trasferit\w*|nuov[oaie]|non più|agora|mudei|nov[oa]s?|já não|nu|verhuisd|nieuwe?|niet meer|sinds)(?![\p{L}\p{N}])|现在|現在|搬|改|新|不再|今は|引っ越|이제|이사/iu;

/**
 * Returns whether a statement can supersede a known one of the same subject: the two share a content word beside the subject, or the
 * sentence of the new statement expresses a change. This guards against models that confuse two topics.
 */
export function canReplace(
  known: string,
  { subject, text, quote }: Claim & { quote: string },
  message: string,
): boolean {
  const names = contentWords(subject);
  const contentWordsOf = (of: string) => contentWords(of).filter(word => !names.some(name => isFormOf(word, name)));
  const [before, after] = [contentWordsOf(known), contentWordsOf(text)];
  const said = sentencesAround(quote, sentencesOf(message));
  return said.some(sentence => CHANGE.test(sentence)) || after.some(word => before.some(each => isFormOf(word, each)));
}

/** Returns whether a text adds nothing to a known text: the known text has all of its content words, and both are negated or both are not. */
export function addsNothing(known: string, text: string): boolean {
  if (denies(known) !== denies(text)) return false;
  const words = contentWords(known);
  const telling = contentWords(text);
  return telling.length > 0 && telling.every(word => words.some(each => isFormOf(word, each)));
}

/** Sorts texts with more content words first, and shorter texts first among equals. */
export const compareByContent = (one: string, other: string): number =>
  new Set(contentWords(other)).size - new Set(contentWords(one)).size || one.length - other.length;
