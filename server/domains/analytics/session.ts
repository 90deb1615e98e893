import pg from 'pg';
import type { Queryable } from '../../platform/postgres/transaction.ts';

/** A session without the short timeouts of the pool's. */
export type OwnSession = {
  /** One transaction. In a `snapshot` every statement sees the same instant, and what the transaction itself has written. */
  transaction<T>(kind: 'ordinary' | 'snapshot', work: (db: Queryable) => Promise<T>): Promise<T>;
};

/** Runs `work` on a session of its own, which ends with it, or at once, in the middle of a statement, when `signal` aborts. */
export async function inOwnSession<T>(
  url: string,
  signal: AbortSignal | undefined,
  work: (session: OwnSession) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'baton-analytics',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // What breaks the session fails the statement under way; without a listener it would also end the process.
  client.on('error', () => undefined);
  const end = () => void client.end();
  signal?.throwIfAborted();
  await client.connect();
  signal?.addEventListener('abort', end);
  try {
    await client.query('SET statement_timeout = 0; SET jit = off');
    return await work({ transaction: (kind, inTransaction) => transaction(client, kind, inTransaction) });
  } finally {
    signal?.removeEventListener('abort', end);
    await client.end();
  }
}

async function transaction<T>(
  client: pg.Client,
  kind: 'ordinary' | 'snapshot',
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  await client.query(kind === 'snapshot' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN');
  try {
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
