import pg from 'pg';

/** Runs `work` on a session of its own, which ends with it, or at once, in the middle of a statement, when `signal` aborts. */
export async function inSession<T>(
  url: string,
  signal: AbortSignal | undefined,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'baton-retention',
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
    await client.query('SET statement_timeout = 0; SET lock_timeout = 5000');
    return await work(client);
  } finally {
    signal?.removeEventListener('abort', end);
    await client.end();
  }
}
