import type { Pool } from 'pg';
import type { VectorHits } from '../embeddings/embed-query.ts';
import { areEquallyNear, cosine } from '../embeddings/quantize.ts';
import { readCodes } from '../embeddings/store.ts';
import { jaccard } from './fuse.ts';

/**
 * Two statements that share at least this fraction of their words may be one that has changed, such as “lives in Lisbon” and
 * “lives in Oslo”.
 */
const RESTATED = 0.5;

export type Statement = {
  id: string;
  score: number;
  /** The words of its text, without the subject. */
  textWords: ReadonlySet<string>;
  saidAt: Date;
};
/** Tells whether the query matches one memory as well as the other. */
export type AreAlike = (one: string, other: string) => boolean;

/**
 * Among statements about the same thing with different values, puts newer ones before older ones: the query fits all of them,
 * so the rank of each is chance. Hits are best first; a hit that moves up gets the score of the hit that it passes.
 */
export function putNewestFirst<H extends Statement>(hits: readonly H[], areAlike: AreAlike): H[] {
  const ordered: H[] = [];
  for (const hit of hits) {
    const at = ordered.findIndex(
      other =>
        other.saidAt < hit.saidAt && jaccard(other.textWords, hit.textWords) >= RESTATED && areAlike(other.id, hit.id),
    );
    const passed = ordered[at];
    if (passed === undefined) ordered.push(hit);
    else ordered.splice(at, 0, { ...hit, score: passed.score });
  }
  return ordered;
}

/** Returns a comparison by vectors. A memory without an embedding may be very new, so it counts as alike. */
export async function compareByMeaning(
  pool: Pool,
  tenantId: string,
  { asked }: VectorHits,
  ids: readonly string[],
): Promise<AreAlike> {
  if (asked === undefined || ids.length === 0) return () => true;
  const codes = await readCodes(pool, tenantId, { space: asked.space, ids });
  const compared = new Map([...codes].map(([id, each]) => [id, { codes: each, score: cosine(asked.vector, each) }]));
  return (one, other) => {
    const [ones, others] = [compared.get(one), compared.get(other)];
    return ones === undefined || others === undefined || areEquallyNear(ones, others);
  };
}
