import type { Queryable } from '../../platform/postgres/transaction.ts';

/** Returns the last time at which retention trusted the clock (ms since the epoch); null if it never did. */
export async function readTrustedAt(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ trusted_at: Date }>('SELECT trusted_at FROM retention_progress');
  return rows[0]?.trusted_at.getTime() ?? null;
}

/**
 * Records that the clock was trusted at `now`. An earlier time does not replace a later one, unless it was `accepted`.
 */
export async function recordTrustedClock(db: Queryable, now: number, accepted: boolean): Promise<void> {
  await db.query(
    `INSERT INTO retention_progress AS p (id, trusted_at) VALUES (1, to_timestamp($1::float8 / 1000))
     ON CONFLICT (id) DO UPDATE SET trusted_at =
       CASE WHEN $2 THEN excluded.trusted_at ELSE greatest(p.trusted_at, excluded.trusted_at) END`,
    [now, accepted],
  );
}
