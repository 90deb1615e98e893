import type { Pool } from 'pg';
import { ByteCache, bytesInMemory } from '../../../platform/byte-cache.ts';
import { MINUTE_MS } from '../../../platform/clock.ts';
import type { Language } from '../folding.ts';
import type { MemoryScope } from '../scope.ts';
import { type CountedWord, countWords } from './candidates-store.ts';
import type { SearchFilter } from './conditions-store.ts';

/** A word that this many memories contain finds nothing by itself. */
export const COMMON_FROM = 500;
const MAX_BYTES = 4 * 1024 * 1024;
/** The time after which a word may be rare again, because memories are forgotten. */
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
 * Returns the number of memories with each word, counted up to COMMON_FROM in each table. The count of a common word is cached
 * for a while: PostgreSQL reads every entry of its index for it (5 ms among 100,000 memories), and questions consist mostly of
 * common words. `now`: ms since the epoch.
 */
export async function countsOfWords(
  pool: Pool,
  scope: MemoryScope,
  filter: SearchFilter,
  { words, language, now }: { words: readonly string[]; language: Language; now: number },
): Promise<CountedWord[]> {
  const counts = countsBy(pool);
  const { at, ...alike } = filter;
  // A word that was common at one instant of the past may be rare at another.
  const about = JSON.stringify([scope, alike, language, filter.isPast ? at : null]);
  const keyOf = (word: string) => `${about} ${word}`;
  const cached = words.flatMap(word => {
    const known = counts.get(keyOf(word));
    return known !== undefined && known.until > now ? [{ word, found: known.found }] : [];
  });
  const isKept = new Set(cached.map(({ word }) => word));
  const uncached = words.filter(word => !isKept.has(word));
  const counted = await countWords(pool, scope, filter, { words: uncached, language, limit: COMMON_FROM });
  for (const { word, found } of counted) {
    if (found < COMMON_FROM) continue;
    const value = { found, until: now + KEEP_MS };
    counts.set(keyOf(word), value, bytesInMemory(keyOf(word)) + bytesInMemory(value));
  }
  return [...cached, ...counted];
}
