import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { DatabaseClient } from './client.ts';
import { StartupError } from './startup-error.ts';

const backendOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;

/**
 * Throws StartupError if two connections share a backend, as behind a pooler in transaction mode. There, session locks have no
 * effect, but leadership and migrations need them. A pooler picks a backend for each transaction: the backend that it used last,
 * or the next one. Two queries on one connection reveal a pooler of the second kind; a query during a transaction of the other
 * connection reveals the first kind. It also throws where session locks lock nothing.
 */
export async function expectOwnBackends(url: string): Promise<void> {
  const connect = async () => {
    const client = new DatabaseClient({
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
    const duringTransaction = await backendOf(other);
    first.push(await backendOf(one));
    await other.query('COMMIT');
    if (new Set(first).size !== 1 || first[0] === duringTransaction) throw new StartupError(SHARED);
    await expectLocks(one, other);
  } finally {
    await Promise.all(clients.map(client => client.end().catch(() => undefined)));
  }
}

const SHARED =
  'DATABASE_URL leads to a pooler that shares the sessions of the database between connections (transaction mode): use session pooling, or connect to PostgreSQL directly.';

const LOCKS_NOTHING =
  'The session locks of the database lock nothing (pg_try_advisory_lock, pg_locks), as in some databases that speak the protocol of PostgreSQL: Baton needs PostgreSQL, because two processes would lead at once.';

/** Throws StartupError unless a session lock excludes other sessions, is listed in pg_locks, and can be released. */
async function expectLocks(one: pg.Client, other: pg.Client): Promise<void> {
  // A random key, so that processes that start at the same time do not collide. Leadership uses keys of 32 bits.
  const key = String(randomInt(1, 2 ** 15) * 2 ** 32 + randomInt(2 ** 32));
  const lock = async (client: pg.Client) =>
    (await client.query<{ done: boolean }>('SELECT pg_try_advisory_lock($1::bigint) AS done', [key])).rows[0]?.done;
  const isHeld = await lock(one);
  const isHeldTwice = await lock(other);
  const { rows } = await one.query<{ shown: boolean }>(
    `SELECT EXISTS (
       SELECT FROM pg_locks
       WHERE locktype = 'advisory' AND classid = ($1::bigint >> 32)::oid AND objid = ($1::bigint & 4294967295)::oid
         AND objsubid = 1 AND granted AND pid = pg_backend_pid()
     ) AS shown`,
    [key],
  );
  await one.query('SELECT pg_advisory_unlock($1::bigint)', [key]);
  if (isHeld !== true || isHeldTwice !== false || rows[0]?.shown !== true || (await lock(other)) !== true)
    throw new StartupError(LOCKS_NOTHING);
}
