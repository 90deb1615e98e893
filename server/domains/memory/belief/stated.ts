import { fold, isCommon, languageOf, normalizeBlanks, wordsOf } from '../folding.ts';
import { isConditional, requestIn, sentencesOf } from './request.ts';

/** The words that negate a statement, in the languages whose common words are known. */
const NEGATIONS: ReadonlySet<string> = new Set(
  'not no never none nothing nobody cannot without nicht nichts niemand kein keine keinen keiner nie niemals ohne ne pas rien jamais sans nunca nada nadie sin non niente mai senza nao nem sem niets niet geen nooit zonder'.split(
    ' ',
  ),
);
/** How a model names the person who says `I`. */
const SPEAKER = 'user';
/** Words that begin with so many of the same letters are forms of one. */
const STEM = 4;
/** More letters than these at the end make another word of it. */
const LONGEST_ENDING = 3;
/** A longer subject, or one with an address or a number, is a statement itself. */
const MAX_NAME_WORDS = 5;

const bare = (word: string): string => word.replace(/'s$/, '');
const isNegation = (word: string): boolean => NEGATIONS.has(word) || word.endsWith("n't");

/** The words that say what a text is about, without accents. */
export function tellingWords(text: string): string[] {
  const words = wordsOf(fold(text.replaceAll('’', "'"))).map(bare);
  const language = languageOf(words);
  return words.filter(word => !isNegation(word) && !isCommon(word, language));
}

const denies = (text: string): boolean => wordsOf(fold(text.replaceAll('’', "'"))).some(isNegation);

/** `takes` is a form of `take`; names and numbers have no forms. */
function isFormOf(word: string, said: string): boolean {
  if (word === said) return true;
  if (/[\d@/]/.test(word) || Math.min(word.length, said.length) < STEM) return false;
  let same = 0;
  while (same < word.length && word[same] === said[same]) same += 1;
  return same >= STEM && Math.max(word.length, said.length) - same <= LONGEST_ENDING;
}

/** The statements of a text around a quote, sentence by sentence. A question states nothing. */
export type Statement = readonly Sentence[];
type Sentence = { telling: readonly string[]; isDenied: boolean; isConditional: boolean };

/** Reads the sentences of a text in which a quote stands. */
export const statementOf = (quote: string, text: string): Statement =>
  sentencesAround(quote, sentencesOf(text)).flatMap(readSentence);

/** Reads what a sentence states. The request to remember it, such as `do not forget`, denies nothing. */
export function readSentence(sentence: string): Sentence[] {
  if (/[?？]["'”’)]*$/u.test(sentence)) return [];
  const isDenied = denies(requestIn(sentence)?.what ?? sentence);
  return [{ telling: tellingWords(sentence), isDenied, isConditional: isConditional(sentence) }];
}

/** Those of the sentences in which a quote stands. */
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
 * Whether a claim says what one of the sentences states: it denies and supposes what that does, and every word that tells something stands there in some
 * form. A model may misread even what it quotes rightly. The subject may be the model's own name for the thing, but no statement of its own.
 */
export function isStated({ subject, text }: Claim, statement: Statement): boolean {
  const telling = tellingWords(text);
  const names = tellingWords(subject);
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

/** The words of a sentence that tells of a change. */
const CHANGE =
  /(?<![\p{L}\p{N}])(?:now|moved?|moving|chang\w*|new|instead|no longer|any ?more|since|bec[ao]me|switch\w*|replac\w*|left|used to|jetzt|nun|umgezogen|zog|neue?[rnsm]?|statt|stattdessen|nicht mehr|seit|geändert|gewechselt|maintenant|désormais|déménagé\w*|nouve\w+|plus|depuis|ahora|mudé|mudado|nuev[oa]s?|ya no|desde|ora|adesso|trasferit\w*|nuov[oaie]|non più|agora|mudei|nov[oa]s?|já não|nu|verhuisd|nieuwe?|niet meer|sinds)(?![\p{L}\p{N}])|现在|現在|搬|改|新|不再|今は|引っ越|이제|이사/iu;

/**
 * Whether one statement can have taken the place of another one of its subject: they share a word that tells something beside the subject, or
 * its sentence tells of a change. A model may be wrong about that.
 */
export function canReplace(
  known: string,
  { subject, text, quote }: Claim & { quote: string },
  message: string,
): boolean {
  const names = tellingWords(subject);
  const tellingOf = (of: string) => tellingWords(of).filter(word => !names.some(name => isFormOf(word, name)));
  const [before, after] = [tellingOf(known), tellingOf(text)];
  const said = sentencesAround(quote, sentencesOf(message));
  return said.some(sentence => CHANGE.test(sentence)) || after.some(word => before.some(each => isFormOf(word, each)));
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
