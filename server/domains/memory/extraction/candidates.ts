import type { ChunkRow } from '../episodes/store.ts';
import { normalizeBlanks, subjectKey } from '../folding.ts';
import { looksLikeCredential } from '../refuse-credentials.ts';
import type { ItemKind } from '../schemas.ts';
import type { Candidate } from './prompts.ts';

const MAX_SUBJECT = 200;
const MAX_TEXT = 2_000;
const MAX_QUOTE = 1_000;
/** What a model finds beyond this in one part is not looked at. */
const MAX_CANDIDATES = 50;

/** A candidate whose quote stands in its chunk. */
export type Grounded = {
  subject: string;
  kind: ItemKind;
  text: string;
  quote: string;
  chunk: ChunkRow;
  /** The user asked to remember it, in words that stand in a turn of theirs. */
  asked: boolean;
};

/** A message as the model has read it, with the chunk of which it is. */
export type ReadMessage = { chunk: ChunkRow; text: string };

/**
 * Keeps the candidates that may become items. A quote has to stand in the message as the model has read it, so that nothing rests on what
 * was recalled; text of tools is never an instruction, and nothing that looks like a credential is kept.
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
    return [{ ...content, chunk, asked: wasAsked(candidate.asked_quote ?? '', chunk, messages) }];
  });
  return { grounded, dropped: candidates.length - grounded.length };
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

/** The model says that the user asked; only words of the user prove it. */
function wasAsked(askedQuote: string, chunk: ChunkRow, messages: readonly ReadMessage[]): boolean {
  if (askedQuote.trim() === '' || chunk.role !== 'user' || chunk.trust !== 'trusted') return false;
  return messages.some(message => message.chunk.role === 'user' && standsIn(askedQuote, message.text));
}
