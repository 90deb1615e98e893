import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Arbitrary; advisory locks belong to one database, so every Baton uses the same. Next to the migrations' 4216033. */
export const LEADER_LOCK = 4_216_034;
/** Standby asks this often: with the session's end noticed at once, a takeover takes about a second (engine.md: 5 s). */
const STANDBY_INTERVAL_MS = 1_000;
/** An idle leader asks this often whether its session is alive, and gives up on it after this long without an answer. */
const LEASE_CHECK_MS = 5_000;
const LEASE_TIMEOUT_MS = 30_000;
const RELEASE_TIMEOUT_MS = 2_000;

/**
 * The session of the leader: it holds the advisory lock and it alone writes the log. So a write can only be committed
 * while the lock is held, whatever has happened to the process meanwhile.
 */
export type LeaderSession = {
  readonly connection: pg.Client;
  /** Settles when the session is gone, with the cause. */
  readonly lost: Promise<unknown>;
  /** Ends the session now, without asking anybody. */
  break(cause: unknown): void;
  /** Releases the lock and ends the session. */
  release(): Promise<void>;
};

/**
 * Waits until this process leads. `onStandby` is called when another one does. Throws when the database cannot be
 * reached or `signal` aborts.
 */
export async function lead(options: {
  connectionString: string;
  lock: number;
  signal: AbortSignal;
  onStandby: () => void;
}): Promise<LeaderSession> {
  const session = await openSession(options.connectionString);
  try {
    for (;;) {
      options.signal.throwIfAborted();
      const { rows } = await session.connection.query<{ locked: boolean }>(
        'SELECT pg_try_advisory_lock($1) AS locked',
        [options.lock],
      );
      if (rows[0]?.locked) break;
      options.onStandby();
      await delay(STANDBY_INTERVAL_MS, undefined, { signal: options.signal });
    }
  } catch (error) {
    session.break(error);
    throw error;
  }
  watchLease(session);
  return session;
}

async function openSession(connectionString: string): Promise<LeaderSession> {
  const socket = new Socket();
  const connection = new pg.Client({
    connectionString,
    application_name: 'baton-orchestrator',
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    stream: () => socket,
  });
  const { promise: lost, resolve } = Promise.withResolvers<unknown>();
  connection.on('error', resolve);
  connection.on('end', () => resolve(new Error('the session ended')));
  await connection.connect();
  // The planner must not think of reading all runs because there were few of them when the statement was prepared; and
  // its one generic plan fits every batch, so nothing is planned twice.
  await connection.query(
    `SET synchronous_commit = on; SET statement_timeout = 0; SET jit = off; SET plan_cache_mode = force_generic_plan;
     SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`,
  );
  return {
    connection,
    lost,
    break(cause) {
      resolve(cause);
      socket.destroy();
    },
    async release() {
      const ending = connection.end();
      // A statement that hangs would keep the session, and with it the lock.
      await Promise.race([ending, delay(RELEASE_TIMEOUT_MS, undefined, { ref: false })]);
      socket.destroy();
    },
  };
}

/** Notices a peer that is gone without a word (engine.md: the one thing an idle process asks the database). */
function watchLease(session: LeaderSession): void {
  let unanswered: NodeJS.Timeout | undefined;
  const check = setInterval(() => {
    if (unanswered !== undefined) return;
    unanswered = setTimeout(() => session.break(new Error('the database does not answer')), LEASE_TIMEOUT_MS);
    session.connection.query('SELECT 1').then(
      () => {
        clearTimeout(unanswered);
        unanswered = undefined;
      },
      (error: unknown) => session.break(error),
    );
  }, LEASE_CHECK_MS);
  check.unref();
  void session.lost.then(() => {
    clearInterval(check);
    clearTimeout(unanswered);
  });
}
