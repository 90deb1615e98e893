import type { Pool } from 'pg';
import { type Clock, MINUTE_MS } from '../platform/clock.ts';
import { sha256 } from '../platform/crypto/digest.ts';
import type { RateLimit, RateLimiter } from '../platform/rate-limit.ts';

/** How often windows that have ended are removed, at most. */
const PURGE_EVERY_MS = 10 * MINUTE_MS;
/** How long a window stays after its end: a node whose clock is late still counts in it. */
const KEPT_MS = MINUTE_MS;
const MAX_PURGED = 10_000;

/**
 * Returns a limiter of each kind in `limits` whose counts all processes on the database share. Windows are aligned to the clock, as
 * in memory. Where clocks differ, the later window counts for all. Rejects while the database is unavailable.
 */
export function createSharedLimiter<Kind extends string>(
  limits: Readonly<Record<Kind, RateLimit>>,
  { pool, clock }: { pool: Pool; clock: Clock },
): RateLimiter<Kind> {
  let purged = 0;
  const windowEnd = (kind: Kind, now: number) => now - (now % limits[kind].windowMs) + limits[kind].windowMs;
  return {
    async take(kind, key) {
      const { limit } = limits[kind];
      if (limit === 0) return { limit: 0, remaining: 0, resetSeconds: 0, allowed: true };
      const now = clock.now();
      if (now - purged >= PURGE_EVERY_MS) {
        purged = now;
        await purge(pool, now - KEPT_MS);
      }
      const { rows } = await pool.query<{ count: number; window_end: Date }>(
        `INSERT INTO rate_counts AS counted (kind, key, window_end, count) VALUES ($1, $2, $3, 1)
         ON CONFLICT (kind, key) DO UPDATE SET
           count = CASE WHEN counted.window_end >= excluded.window_end THEN counted.count + 1 ELSE 1 END,
           window_end = GREATEST(counted.window_end, excluded.window_end)
         RETURNING count, window_end`,
        [kind, sha256(key), new Date(windowEnd(kind, now))],
      );
      const used = rows[0]?.count ?? 1;
      const end = rows[0]?.window_end.getTime() ?? now;
      return {
        limit,
        remaining: Math.max(0, limit - used),
        resetSeconds: Math.max(1, Math.ceil((end - now) / 1000)),
        allowed: used <= limit,
      };
    },
    async refund(kind, key) {
      if (limits[kind].limit === 0) return;
      await pool.query(
        'UPDATE rate_counts SET count = count - 1 WHERE kind = $1 AND key = $2 AND window_end = $3 AND count > 0',
        [kind, sha256(key), new Date(windowEnd(kind, clock.now()))],
      );
    },
  };
}

async function purge(pool: Pool, endedBefore: number): Promise<void> {
  await pool.query(
    `DELETE FROM rate_counts WHERE (kind, key) IN
       (SELECT kind, key FROM rate_counts WHERE window_end < $1 ORDER BY window_end LIMIT ${MAX_PURGED} FOR UPDATE SKIP LOCKED)`,
    [new Date(endedBefore)],
  );
}
