import type pg from 'pg';
import { DatabaseClient } from './client.ts';

/**
 * Runs `work` on a separate session, without the short timeouts of the pool. The session ends with `work`, or immediately, in the
 * middle of a statement, when `signal` aborts. `name` is the application name in PostgreSQL; `lockTimeoutMs` limits the wait for
 * a lock (default: no limit).
 */
export async function inOwnSession<T>(
  url: string,
  { name, signal, lockTimeoutMs = 0 }: { name: string; signal?: AbortSignal | undefined; lockTimeoutMs?: number },
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new DatabaseClient({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // An error of the session fails the statement in flight; without a listener it would also end the process.
  client.on('error', () => undefined);
  const end = () => void client.end();
  signal?.throwIfAborted();
  await client.connect();
  signal?.addEventListener('abort', end);
  try {
    await client.query(`SET statement_timeout = 0; SET lock_timeout = ${lockTimeoutMs}; SET jit = off`);
    return await work(client);
  } finally {
    signal?.removeEventListener('abort', end);
    await client.end();
  }
}
