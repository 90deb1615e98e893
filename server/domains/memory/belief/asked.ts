import { normalizeBlanks } from '../folding.ts';
import { ownWordsOf } from './own-words.ts';
import { requestIn, sentencesOf } from './request.ts';
import { type Claim, contentWords, isStated, readSentence, sentencesAround } from './stated.ts';

/** A message of a person, and the person's next message, if any. */
export type MessageWithNext = { message: string; next?: string | undefined };

/**
 * Returns whether a person asked, in their own words, to remember a claim. The request is in the sentence that states the claim, in a sentence
 * beside it, or in the next message. A request in another sentence or message counts only if it contains nothing else. `askedQuote`: the
 * words that the model quotes as the request.
 */
export function isAskedFor(
  claim: Claim,
  { quote, askedQuote }: { quote: string; askedQuote: string },
  { message, next }: MessageWithNext,
): boolean {
  const request = normalizeBlanks(askedQuote);
  if (request === '') return false;
  const sentences = sentencesOf(ownWordsOf(message));
  return sentencesAround(quote, sentences).some(sentence => {
    if (!isStated(claim, readSentence(sentence))) return false;
    const own = requestIn(sentence);
    if (own !== null && sentence.includes(request) && contentWords(own.what).length > 0) return true;
    const at = sentences.indexOf(sentence);
    const neighbors = [sentences[at + 1], at === 1 ? sentences[0] : undefined];
    if (neighbors.some(each => each?.includes(request) && isBareRequest(each))) return true;
    return at === sentences.length - 1 && next !== undefined && isOnlyRequest(next, request);
  });
}

/** Returns whether a sentence is a request that refers to another sentence, such as “Remember that.”. */
function isBareRequest(sentence: string): boolean {
  const request = requestIn(sentence);
  return request !== null && contentWords(request.what).length === 0;
}

/** The maximum number of characters around a request that do not count, such as “Thanks!”. */
const MAX_OTHER_CHARACTERS = 20;

/** Returns whether a message contains only a request. */
function isOnlyRequest(message: string, request: string): boolean {
  const sentences = sentencesOf(ownWordsOf(message));
  const others = sentences.filter(sentence => !isBareRequest(sentence));
  return (
    sentences.some(sentence => sentence.includes(request) && isBareRequest(sentence)) &&
    others.reduce((sum, { length }) => sum + length, 0) <= MAX_OTHER_CHARACTERS
  );
}
