import type { Signal } from '../schemas.ts';

/** The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009). */
const K = 60;

/** Less than the difference of one rank: it orders candidates that share a rank. */
const TIE_BREAK = 0.02;

/**
 * One signal's candidates, best first. `weight`: the fraction of the query that the signal covers. Candidates with the same
 * `level` share a rank: their order means little, and must not outvote another signal.
 */
export type RankedList = { signal: Signal; weight: number; candidates: readonly { id: string; level?: number }[] };
export type Fused = { id: string; score: number; ranks: Partial<Record<Signal, number>> };

/** Fuses ranked lists by reciprocal rank, best first. Scores of different signals need not be comparable. */
export function fuse(lists: readonly RankedList[]): Fused[] {
  const fused = new Map<string, Fused>();
  for (const { signal, weight, candidates } of lists) {
    let shared = 1;
    const most = Math.max(0, ...candidates.map(({ level = 0 }) => level));
    for (const [at, { id, level }] of candidates.entries()) {
      if (level === undefined || level !== candidates[at - 1]?.level) shared = at + 1;
      const known = fused.get(id) ?? { id, score: 0, ranks: {} };
      // A text that lacks a word of the query is a worse answer, however few texts precede it.
      const part = level === undefined || most === 0 ? 1 : level / most;
      known.score += weight * part * (1 / (K + shared) + TIE_BREAK / (K + at + 1));
      known.ranks[signal] = shared;
      fused.set(id, known);
    }
  }
  return [...fused.values()].sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1));
}

/** Two texts that share at least this fraction of their words count as repetitions. */
const SIMILAR = 0.7;
/** The fraction of the best score that a text loses, times the similarity, if it repeats a better one. */
const PENALTY = 0.25;
/** The number of positions in which a different text is searched for. */
const LOOKAHEAD = 40;

type Ranked = { score: number; words: ReadonlySet<string> };

/**
 * Reorders hits so that a hit that repeats a better one comes later (maximal marginal relevance). Only near repetitions lose:
 * texts that merely share words with others are wanted.
 */
export function diversify<H extends Ranked>(hits: readonly H[], count: number): H[] {
  const best = hits[0]?.score ?? 1;
  const rest = hits.slice(0, count + LOOKAHEAD).map(hit => ({ hit, value: hit.score / best }));
  const chosen: H[] = [];
  while (chosen.length < count && rest.length > 0) {
    rest.sort((a, b) => b.value - a.value);
    const next = rest.shift();
    if (next === undefined) break;
    chosen.push(next.hit);
    for (const each of rest) {
      const similarity = jaccard(each.hit.words, next.hit.words);
      if (similarity >= SIMILAR) each.value = Math.min(each.value, each.hit.score / best - PENALTY * similarity);
    }
  }
  return chosen;
}

/** Returns the fraction of the words of two texts that both have, 0..1. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}

/**
 * Returns the first hits whose texts have at most `maxTokens` in total. A hit that does not fit is left out in favor of shorter
 * ones after it.
 */
export function packTokens<H extends { tokens: number }>(
  hits: readonly H[],
  maxTokens: number | undefined,
): { kept: H[]; tokens: number; truncated: boolean } {
  let tokens = 0;
  const kept = hits.filter(hit => {
    if (maxTokens !== undefined && tokens + hit.tokens > maxTokens) return false;
    tokens += hit.tokens;
    return true;
  });
  return { kept, tokens, truncated: kept.length < hits.length };
}
