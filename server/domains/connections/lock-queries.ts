import pLimit, { type LimitFunction } from 'p-limit';
import type { Pool } from 'pg';

/**
 * Names the lock that a process holds while it changes a connection's secret and row: two refreshes with one refresh
 * token would look like a theft to the provider, which then revokes the grant. It is an advisory lock and not the
 * row's: a locked row would block callers that only record its last use, or bind it, while a provider is being asked.
 * It is released with its transaction, so a process that dies leaves no lock.
 */
const lockKey = (connectionId: string) => `connection/${connectionId}`;

/**
 * Each holder keeps a connection of the pool, and its work needs another one: half of the smallest
 * pool (4) is left to the work.
 */
const MAX_HOLDERS = 2;

const limits = new WeakMap<Pool, LimitFunction>();

/** Returns the semaphore of this process's holders that use `pool`. */
function holdersOf(pool: Pool): LimitFunction {
  const present = limits.get(pool);
  if (present) return present;
  const created = pLimit(MAX_HOLDERS);
  limits.set(pool, created);
  return created;
}

/**
 * Runs `work` while no other caller, in any process, holds this connection. `work` commits its
 * own statements on the pool.
 */
export function withConnectionLock<T>(
  { pool }: { pool: Pool },
  connectionId: string,
  work: () => Promise<T>,
): Promise<T> {
  return locked(pool, connectionId, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', work);
}

/** Does the same, but returns immediately without `work` if the connection is locked. */
export async function tryWithConnectionLock(
  { pool }: { pool: Pool },
  connectionId: string,
  work: () => Promise<void>,
): Promise<void> {
  await locked(pool, connectionId, 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS held', work);
}

function locked<T>(pool: Pool, connectionId: string, statement: string, work: () => Promise<T>): Promise<T> {
  return holdersOf(pool)(async () => {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<{ held?: boolean }>(statement, [lockKey(connectionId)]);
      if (rows[0]?.held === false) return undefined as T;
      return await work();
    } finally {
      await client.query('ROLLBACK').catch((error: Error) => {
        broken = error;
      });
      client.release(broken);
    }
  });
}
