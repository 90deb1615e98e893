import { isAskedFor } from '../belief/asked.ts';
import { addsNothing, compareByContent } from '../belief/stated.ts';
import { looksLikeCredential } from '../credential-forms.ts';
import type { ChunkRow } from '../episodes/store.ts';
import { normalizeBlanks, subjectKey } from '../folding.ts';
import type { ItemKind } from '../schemas.ts';
import type { Candidate } from './prompts.ts';

const MAX_SUBJECT = 200;
const MAX_TEXT = 2_000;
const MAX_QUOTE = 1_000;
/** The maximum number of candidates of one part. Further ones are dropped. */
const MAX_CANDIDATES = 50;

/** A candidate whose chunk contains its quote. */
export type Grounded = {
  subject: string;
  kind: ItemKind;
  text: string;
  quote: string;
  chunk: ChunkRow;
  /** Whether the user asked for it in their own words, and these words state it. */
  asked: boolean;
};

/** A message as the model has read it, with its chunk. */
export type ReadMessage = { chunk: ChunkRow; text: string };

/**
 * Selects the candidates that may become items. The message must contain the quote as the model has read it, so that no item rests on
 * recalled memories. Instructions from tools and candidates with credentials are dropped.
 */
export function groundCandidates(
  candidates: readonly Candidate[],
  { messages, isSecret }: { messages: readonly ReadMessage[]; isSecret: (text: string) => boolean },
): { grounded: Grounded[]; dropped: number } {
  const grounded = candidates.slice(0, MAX_CANDIDATES).flatMap(candidate => {
    const message = messages[candidate.message - 1];
    const content = contentOf(candidate);
    if (message === undefined || content === null || !standsIn(content.quote, message.text)) return [];
    const { chunk } = message;
    if (content.kind === 'instruction' && chunk.trust !== 'trusted') return [];
    if ([content.subject, content.text, content.quote].some(text => looksLikeCredential(text) || isSecret(text))) {
      return [];
    }
    const { quote } = content;
    const asking = { quote, askedQuote: candidate.asked_quote ?? '' };
    const asked = isOfUser(message) && isAskedFor(content, asking, askingOf(candidate.message - 1, messages));
    return [{ ...content, chunk, asked }];
  });
  const kept = withoutRepetitions(grounded);
  return { grounded: kept, dropped: candidates.length - kept.length };
}

/** Removes repeated statements of a message, which models often return. Requested and more complete statements take precedence. */
function withoutRepetitions(grounded: readonly Grounded[]): Grounded[] {
  const kept: Grounded[] = [];
  const best = grounded.toSorted(
    (one, other) => Number(other.asked) - Number(one.asked) || compareByContent(one.text, other.text),
  );
  for (const each of best) {
    const isRepeated = kept.some(
      known =>
        known.chunk.id === each.chunk.id &&
        known.kind === each.kind &&
        subjectKey(known.subject) === subjectKey(each.subject) &&
        addsNothing(known.text, each.text),
    );
    if (!isRepeated) kept.push(each);
  }
  return kept;
}

function contentOf({ subject, kind, text, quote }: Candidate) {
  const content = { subject: subject.trim(), kind, text: text.trim(), quote: quote.trim() };
  const isText = [content.subject, content.text, content.quote].every(
    each => each !== '' && each.isWellFormed() && !each.includes('\0'),
  );
  const fits =
    content.subject.length <= MAX_SUBJECT && content.text.length <= MAX_TEXT && content.quote.length <= MAX_QUOTE;
  return isText && fits && subjectKey(content.subject) !== '' ? content : null;
}

const standsIn = (quote: string, text: string): boolean => normalizeBlanks(text).includes(normalizeBlanks(quote));

/** Returns a message with the user's next one. Requests in other messages are about something else. */
function askingOf(at: number, messages: readonly ReadMessage[]) {
  return { message: messages[at]?.text ?? '', next: messages.slice(at + 1).find(isOfUser)?.text };
}

/** Returns whether a message is a complete one of the user. A part does not show which text the user pasted. */
const isOfUser = ({ chunk }: ReadMessage): boolean =>
  chunk.role === 'user' && chunk.trust === 'trusted' && !chunk.is_part;
