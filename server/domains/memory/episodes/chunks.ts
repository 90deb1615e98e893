import { estimateTokens } from '../folding.ts';

/** Longer texts are cut: a hit is to be short enough to be read, and long enough to be understood. */
export const MAX_CHUNK_TOKENS = 400;
const MAX_CHUNK_LENGTH = MAX_CHUNK_TOKENS * 4;

/**
 * The ends of a paragraph, line, sentence and word. Each pattern takes linear time; one with a lookahead for the last
 * match would not.
 */
const ENDINGS = [/\n[^\S\n]*\n/g, /\n/g, /[.!?。！？]/g, /\s/g];

/** Cuts a text into parts of at most 400 tokens, at the end of a paragraph, line, sentence or word where there is one. */
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
    // Not at the very beginning: the parts would be tiny.
    if (at > length / 2) return at + 1;
  }
  // Not within a surrogate pair.
  return /[\ud800-\udbff]$/.test(start) ? length - 1 : length;
}

/** The position of the last match, or -1. */
function lastMatch(text: string, pattern: RegExp): number {
  let at = -1;
  for (const match of text.matchAll(pattern)) at = match.index;
  return at;
}
