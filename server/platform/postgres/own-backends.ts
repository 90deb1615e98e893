import pg from 'pg';
import { StartupError } from './startup-error.ts';

const backendOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;

/**
 * Throws StartupError if two connections share a backend, as behind a pooler in transaction mode. There, session locks have no
 * effect, but leadership and migrations need them. A pooler picks a backend for each transaction: the backend that it used last,
 * or the next one. Two queries on one connection reveal a pooler of the second kind; a query during a transaction of the other
 * connection reveals the first kind.
 */
export async function expectOwnBackends(url: string): Promise<void> {
  const connect = async () => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'baton-start',
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const clients: pg.Client[] = [];
  try {
    const one = await connect();
    clients.push(one);
    const other = await connect();
    clients.push(other);
    const first = [await backendOf(one), await backendOf(one)];
    await other.query('BEGIN');
    const meanwhile = await backendOf(other);
    first.push(await backendOf(one));
    await other.query('COMMIT');
    if (new Set(first).size === 1 && first[0] !== meanwhile) return;
  } finally {
    await Promise.all(clients.map(client => client.end().catch(() => undefined)));
  }
  throw new StartupError(
    'DATABASE_URL leads to a pooler that shares the sessions of the database between connections (transaction mode): use session pooling, or connect to PostgreSQL directly.',
  );
}
