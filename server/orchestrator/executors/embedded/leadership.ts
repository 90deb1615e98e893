import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { commitStatement, type LogSession, PLANNING } from '../../log/index.ts';

/** Arbitrary; advisory locks belong to one database, so every Baton uses the same. Next to the migrations' 4216033. */
export const LEADER_LOCK = 4_216_034;
/** Standby asks this often: with the session's end noticed at once, a takeover takes about a second (engine.md: 5 s). */
const STANDBY_INTERVAL_MS = 1_000;
/**
 * An idle leader asks this often whether its session is alive, and gives up on it after this long without an answer: no
 * caller waits longer than the two together (the API answers within 15 s).
 */
const LEASE_CHECK_MS = 2_500;
const LEASE_TIMEOUT_MS = 8_000;
/**
 * The server ends the session of a leader that has not asked for this long: of one that is stopped, or beyond a network
 * that swallows everything. Both keep their connection open, and would keep the lock for ever.
 */
const LEASE_MS = 10_000;
const RELEASE_TIMEOUT_MS = 2_000;

/**
 * The session of the leader: it holds the advisory lock and it alone writes the log. So a write can only be committed
 * while the lock is held, whatever has happened to the process meanwhile.
 */
export type LeaderSession = LogSession & {
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
  const { connection, session, alive } = await openSession(options.connectionString);
  try {
    for (;;) {
      options.signal.throwIfAborted();
      const { rows } = await connection.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
        options.lock,
      ]);
      if (rows[0]?.locked) break;
      options.onStandby();
      await delay(STANDBY_INTERVAL_MS, undefined, { signal: options.signal });
    }
  } catch (error) {
    session.break(error);
    throw error;
  }
  watchLease(session, alive);
  return session;
}

/** Settles when the session has answered, at once if a statement is under way: its answer will do. */
type Alive = () => Promise<void>;

async function openSession(
  connectionString: string,
): Promise<{ connection: pg.Client; session: LeaderSession; alive: Alive }> {
  const socket = new Socket();
  const connection = new pg.Client({
    connectionString,
    application_name: 'baton-orchestrator',
    keepAlive: true,
    // A batch is sent before the one before is answered.
    pipeline: true,
    connectionTimeoutMillis: 10_000,
    stream: () => socket,
  });
  const { promise: lost, resolve } = Promise.withResolvers<unknown>();
  connection.on('error', resolve);
  connection.on('end', () => resolve(new Error('the session ended')));
  await connection.connect();
  await connection.query(
    `SET idle_session_timeout = ${LEASE_MS}; SET synchronous_commit = on; SET statement_timeout = 0; ${PLANNING}`,
  );
  const underWay = new Set<Promise<unknown>>();
  /** Sent at once, behind what is under way. PostgreSQL takes them one after the other, each a transaction of its own. */
  const ask = async (statement: string | pg.QueryConfig): Promise<unknown> => {
    const answer = connection.query(statement);
    underWay.add(answer);
    try {
      return await answer;
    } finally {
      underWay.delete(answer);
    }
  };
  const session: LeaderSession = {
    commit: batch => ask(commitStatement(batch)),
    lost,
    break(cause) {
      resolve(cause);
      socket.destroy();
    },
    async release() {
      // A statement that hangs would keep the session, and with it the lock.
      // Unlocked by name first: the session's own end may take the server a while, and a standby would wait for it.
      const ending = ask('SELECT pg_advisory_unlock_all()').then(() => connection.end());
      await Promise.race([ending.catch(() => undefined), delay(RELEASE_TIMEOUT_MS, undefined, { ref: false })]);
      socket.destroy();
    },
  };
  const alive = async () => {
    await (underWay.size > 0 ? Promise.race(underWay) : ask('SELECT 1'));
  };
  return { connection, session, alive };
}

/** Notices a peer that is gone without a word (engine.md: the one thing an idle process asks the database). */
function watchLease(session: LeaderSession, alive: Alive): void {
  let unanswered: NodeJS.Timeout | undefined;
  const check = setInterval(() => {
    if (unanswered !== undefined) return;
    unanswered = setTimeout(() => session.break(new Error('the database does not answer')), LEASE_TIMEOUT_MS);
    const answered = () => {
      clearTimeout(unanswered);
      unanswered = undefined;
    };
    // A statement may be refused for what is in it; the end of the session is told by `lost`.
    alive().then(answered, answered);
  }, LEASE_CHECK_MS);
  check.unref();
  void session.lost.then(() => {
    clearInterval(check);
    clearTimeout(unanswered);
  });
}
