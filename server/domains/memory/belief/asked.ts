import { normalizeBlanks } from '../folding.ts';
import { ownWordsOf } from './own-words.ts';
import { requestIn, sentencesOf } from './request.ts';
import { type Claim, isStated, readSentence, sentencesAround, tellingWords } from './stated.ts';

/** A message of a person, and their next one, if there is one. */
export type Asking = { message: string; next?: string | undefined };

/**
 * Whether a person asked to remember a claim: in their own words, in a sentence that states it or in one beside it that says nothing else, or
 * in their next message, if that says nothing else. `askedQuote` are the words by which a model says that they did.
 */
export function isAskedFor(
  claim: Claim,
  { quote, askedQuote }: { quote: string; askedQuote: string },
  { message, next }: Asking,
): boolean {
  const asked = normalizeBlanks(askedQuote);
  if (asked === '') return false;
  const sentences = sentencesOf(ownWordsOf(message));
  return sentencesAround(quote, sentences).some(sentence => {
    if (!isStated(claim, readSentence(sentence))) return false;
    const own = requestIn(sentence);
    if (own !== null && sentence.includes(asked) && tellingWords(own.what).length > 0) return true;
    const at = sentences.indexOf(sentence);
    const beside = [sentences[at + 1], at === 1 ? sentences[0] : undefined];
    if (beside.some(each => each?.includes(asked) && isRequestAlone(each))) return true;
    return at === sentences.length - 1 && next !== undefined && asksAlone(next, asked);
  });
}

/** Whether a sentence asks to remember what another one says. */
function isRequestAlone(sentence: string): boolean {
  const request = requestIn(sentence);
  return request !== null && tellingWords(request.what).length === 0;
}

/** So many letters beside a request, such as “Thanks!”, say nothing else. */
const REQUEST_ALONE = 20;

/** Whether a message says nothing but a request. */
function asksAlone(message: string, asked: string): boolean {
  const sentences = sentencesOf(ownWordsOf(message));
  const others = sentences.filter(sentence => !isRequestAlone(sentence));
  return (
    sentences.some(sentence => sentence.includes(asked) && isRequestAlone(sentence)) &&
    others.reduce((sum, { length }) => sum + length, 0) <= REQUEST_ALONE
  );
}
