import { estimateTokens } from '../folding.ts';

/** The maximum number of tokens of a chunk. A hit has to be short enough to read and long enough to understand. */
export const MAX_CHUNK_TOKENS = 400;
const MAX_CHUNK_LENGTH = MAX_CHUNK_TOKENS * 4;

/**
 * Match the ends of a paragraph, line, sentence and word. Each pattern takes linear time. A lookahead for the last match
 * would take longer.
 */
const ENDINGS = [/\n[^\S\n]*\n/g, /\n/g, /[.!?。！？]/g, /\s/g];

/** Cuts a text into parts of at most 400 tokens, preferably at the end of a paragraph, line, sentence or word. */
export function cutIntoChunks(text: string): string[] {
  const chunks: string[] = [];
  for (let rest = text.trim(); rest !== ''; ) {
    const length = fittingLength(rest);
    chunks.push(rest.slice(0, length).trim());
    rest = rest.slice(length).trim();
  }
  return chunks;
}

function fittingLength(text: string): number {
  let length = Math.min(text.length, MAX_CHUNK_LENGTH);
  while (estimateTokens(text.slice(0, length)) > MAX_CHUNK_TOKENS) length = Math.floor(length * 0.7);
  if (length === text.length) return length;
  const start = text.slice(0, length);
  for (const ending of ENDINGS) {
    const at = lastMatch(start, ending);
    // An ending in the first half would make the part too short.
    if (at > length / 2) return at + 1;
  }
  // A surrogate pair stays together.
  return /[\ud800-\udbff]$/.test(start) ? length - 1 : length;
}

/** Returns the position of the last match, or -1. */
function lastMatch(text: string, pattern: RegExp): number {
  let at = -1;
  for (const match of text.matchAll(pattern)) at = match.index;
  return at;
}
