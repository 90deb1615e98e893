import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock } from '../../../platform/clock.ts';

/** The number of terms that are kept. An attempt of an older term counts as lost with its process. */
const TERMS_KEPT = 10_000;

/**
 * The term of a runtime, as the core's LeaderTerm. Its own term is among those survived, because the step is not to
 * blame for what is interrupted within it either. A defect of the runtime removes it.
 */
export type OwnTerm = { readonly term: number; readonly survived: Set<number> };

/**
 * The leaders' terms, and which processes are known to have outlived them. Where several processes lead, a term of this
 * one is older than many of those whose runs it takes over.
 */
export type LeaderTerms = {
  /** Begins a term of this process, which has survived all terms that it had before. */
  begin(): Promise<OwnTerm>;
  /**
   * Adds to a term what other processes have survived by now. Called at each take of runs, before they are loaded: an
   * attempt that was interrupted in a term that is not known as survived counts as a death.
   */
  readAgain(own: OwnTerm): Promise<void>;
  /** Records that this process has survived its terms so far. Called when it shuts down in order, or stands by. */
  survive(): Promise<void>;
};

/**
 * Keeps the terms in `leader_terms`. Only a process that holds the leader's lock may call `begin`. Two terms that begin in the
 * wrong order, because the lock was lost in between, do no harm: attempts carry the number of their own term, and a statement
 * records the survival only of terms whose number was known when it was sent. A late one would otherwise say of the term
 * in progress that its process survived it. A term whose number never arrived had no attempts.
 */
export function createLeaderTerms(pool: Pool, clock: Clock): LeaderTerms {
  const processId = randomUUID();
  /** The terms of this process whose survival may not be recorded. */
  let open: readonly number[] = [];
  return {
    async begin() {
      const before = open;
      const { rows } = await pool.query<{ term: number; survived: number[] }>(
        `WITH before AS (UPDATE leader_terms SET survived_at = $2 WHERE term = ANY($4) AND survived_at IS NULL RETURNING term),
              begun AS (INSERT INTO leader_terms (process_id, began_at) VALUES ($1, $2) RETURNING term),
              old AS (DELETE FROM leader_terms USING begun WHERE leader_terms.term <= begun.term - $3)
         SELECT term, ARRAY(SELECT term FROM leader_terms WHERE survived_at IS NOT NULL UNION SELECT term FROM before) AS survived
         FROM begun`,
        [processId, new Date(clock.now()), TERMS_KEPT, before],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('the term of the leader was not recorded');
      open = [...open.filter(term => !before.includes(term)), row.term];
      return { term: row.term, survived: new Set(row.survived).add(row.term) };
    },
    async readAgain({ term: own, survived }) {
      const { rows } = await pool.query<{ term: number }>(
        'SELECT term FROM leader_terms WHERE survived_at IS NOT NULL',
      );
      // A defect may have removed the term of its own meanwhile.
      for (const { term } of rows) if (term !== own) survived.add(term);
    },
    async survive() {
      const before = open;
      if (before.length === 0) return;
      const statement = 'UPDATE leader_terms SET survived_at = $2 WHERE term = ANY($1) AND survived_at IS NULL';
      await pool.query(statement, [before, new Date(clock.now())]);
      open = open.filter(term => !before.includes(term));
    },
  };
}
