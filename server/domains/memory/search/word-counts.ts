import type { Pool } from 'pg';
import { ByteCache, bytesInMemory } from '../../../platform/byte-cache.ts';
import { MINUTE_MS } from '../../../platform/clock.ts';
import type { Language } from '../folding.ts';
import type { MemoryScope } from '../scope.ts';
import { type CountedWord, countWords } from './candidates-store.ts';
import type { SearchFilter } from './conditions-store.ts';

/** A word that more memories hold finds nothing by itself. */
export const COMMON_FROM = 500;
const MAX_BYTES = 4 * 1024 * 1024;
/** After so long a word may be rare again, as memories are forgotten. */
const KEEP_MS = 10 * MINUTE_MS;

type Counts = ByteCache<{ found: number; until: number }>;
const countsOf = new WeakMap<Pool, Counts>();

function countsBy(pool: Pool): Counts {
  const known = countsOf.get(pool);
  if (known) return known;
  const empty: Counts = new ByteCache(MAX_BYTES);
  countsOf.set(pool, empty);
  return empty;
}

/**
 * How many memories hold each word, as far as COMMON_FROM in each table. A common word's count is kept for a while: PostgreSQL reads every
 * entry of its index for it (5 ms among 100,000 memories), and questions are mostly made of common words. `now`: ms since the epoch.
 */
export async function countsOfWords(
  pool: Pool,
  scope: MemoryScope,
  filter: SearchFilter,
  { words, language, now }: { words: readonly string[]; language: Language; now: number },
): Promise<CountedWord[]> {
  const counts = countsBy(pool);
  const { at, ...alike } = filter;
  // What was common at an instant of the past says nothing of another one.
  const about = JSON.stringify([scope, alike, language, filter.isPast ? at : null]);
  const keyOf = (word: string) => `${about} ${word}`;
  const kept = words.flatMap(word => {
    const known = counts.get(keyOf(word));
    return known !== undefined && known.until > now ? [{ word, found: known.found }] : [];
  });
  const isKept = new Set(kept.map(({ word }) => word));
  const asked = words.filter(word => !isKept.has(word));
  const counted = await countWords(pool, scope, filter, { words: asked, language, limit: COMMON_FROM });
  for (const { word, found } of counted) {
    if (found < COMMON_FROM) continue;
    const value = { found, until: now + KEEP_MS };
    counts.set(keyOf(word), value, bytesInMemory(keyOf(word)) + bytesInMemory(value));
  }
  return [...kept, ...counted];
}
