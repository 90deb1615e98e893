import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import type pg from 'pg';
import { DatabaseClient } from '../../../platform/postgres/client.ts';
import { WAITS_FOR_REPLICA } from '../../../platform/postgres/replication.ts';
import { LEADER_LOCK, processLock } from '../../cluster/locks.ts';
import { commitStatement, type LogSession, PLANNING } from '../../log/index.ts';

/**
 * The server ends a session that has sent nothing for this long, such as that of a process that is suspended, or
 * that is cut off by a network that drops every packet. In both cases the connection stays open, and the session
 * would keep the lock forever.
 */
export const LEASE_MS = 10_000;
/** The kernel also notices a peer that is gone: it probes after this time, and then every second (libuv), ten times. */
const KEEPALIVE_DELAY_MS = 5_000;

/** The database's answer about the session that asked. */
export type SessionState = {
  /** The backend that served the statement. */
  backend: number;
  /** Whether that backend carries the mark that this connection gave it. */
  marked: boolean;
  /** Whether that backend holds the leader's lock. */
  holdsLock: boolean;
  /** The shards whose locks that backend holds. */
  shards: readonly number[];
  /** Why nothing may be written: the server is a standby, its transactions are read-only, or its replicas are not waited for. */
  readOnly: 'standby' | 'setting' | 'asynchronous' | null;
};

/** `state` is as of before the attempt: PostgreSQL grants a lock again to the backend that already holds it. */
export type LockAttempt = SessionState & { acquired: boolean };

/**
 * The connection of a process that leads or wants to: everything that leadership asks of a database. Its promises have
 * no time limits; the caller sets them (leadership.ts).
 */
export type LeaderConnection = LogSession & {
  /** Settles when the connection is gone, with the cause. */
  readonly lost: Promise<unknown>;
  /** Connects and prepares the session. */
  open(): Promise<void>;
  /** Asks for the lock of the only leader, or in a cluster for a share of it. */
  tryLock(): Promise<LockAttempt>;
  /** Asks for the lock of a shard, which this session does not hold; returns whether it was granted. */
  lockShard(shard: number): Promise<boolean>;
  unlockShard(shard: number): Promise<void>;
  check(): Promise<SessionState>;
  /** Releases the lock, then ends the session. */
  end(): Promise<void>;
  /** Drops the connection without asking the database. */
  destroy(): void;
};

/** Makes a connection that is not open yet. */
export type LeaderConnector = () => LeaderConnection;

export type LeaderConnectorOptions = {
  lock?: number | undefined;
  /** Each connection holds the `processLock` of this id, whether it leads or not. */
  processId?: string | undefined;
  /** Nothing may be written where commits wait for no replica. */
  synchronous?: boolean | undefined;
  /** Whether several processes lead, each with the locks of its shards: they share the lock of the only leader. */
  sharded?: boolean | undefined;
};

export function postgresConnector(
  connectionString: string,
  { lock = LEADER_LOCK, processId = randomUUID(), synchronous = false, sharded = false }: LeaderConnectorOptions = {},
): LeaderConnector {
  return () => new PostgresConnection(connectionString, { lock, processId, synchronous, sharded });
}

/**
 * The defaults of a role or a database must not end commits or change what they see, except for
 * `default_transaction_read_only`, which is respected. A waiting commit is ended by the lease check and not by a
 * timeout of its own: with SQLSTATE 55P03 or 57014, every lock that another session holds would cost the leadership.
 */
const PREPARE = `
  SET idle_session_timeout = ${LEASE_MS};
  SET statement_timeout = 0;
  SET lock_timeout = 0;
  SET synchronous_commit = on;
  SET default_transaction_isolation = 'read committed';
  ${PLANNING}`;

/**
 * $1: the lock, $2: the mark. The mark is a setting with a made-up name: it belongs to the backend, and no pooler
 * carries it along. If it is missing or has another connection's value, a pooler shares backends between connections.
 * The pid shows the same, unless the pooler happens to pick the same backend each time.
 */
const STATE = `
  SELECT pg_backend_pid() AS backend,
         coalesce(current_setting('baton.session', true) = $2, false) AS marked,
         EXISTS (
           SELECT FROM pg_locks
           WHERE locktype = 'advisory' AND classid = 0 AND objid = $1::bigint::oid AND objsubid = 1
             AND granted AND pid = pg_backend_pid()
         ) AS holds_lock,
         pg_is_in_recovery() AS in_recovery,
         current_setting('transaction_read_only') = 'on' AS read_only`;

const ASYNCHRONOUS = `, NOT (${WAITS_FOR_REPLICA}) AS asynchronous`;

/** The locks of shards have two keys of 32 bits, so they collide with no other lock. */
const SHARDS = `, ARRAY(
  SELECT objid::int FROM pg_locks
  WHERE locktype = 'advisory' AND classid = $1::bigint::oid AND objsubid = 2 AND granted AND pid = pg_backend_pid()
) AS shards`;

type StateRow = {
  backend: number;
  marked: boolean;
  holds_lock: boolean;
  in_recovery: boolean;
  read_only: boolean;
  asynchronous?: boolean;
  shards?: number[];
};

const stateOf = ({ backend, marked, holds_lock, shards, ...row }: StateRow): SessionState => ({
  backend,
  marked,
  holdsLock: holds_lock,
  shards: shards ?? [],
  readOnly: readOnlyOf(row),
});

function readOnlyOf(row: Pick<StateRow, 'in_recovery' | 'read_only' | 'asynchronous'>): SessionState['readOnly'] {
  if (row.in_recovery) return 'standby';
  if (row.read_only) return 'setting';
  return row.asynchronous ? 'asynchronous' : null;
}

type Connecting = { lock: number; processId: string; synchronous: boolean; sharded: boolean };

class PostgresConnection implements LeaderConnection {
  readonly lost: Promise<unknown>;
  readonly #lock: number;
  readonly #processId: string;
  readonly #mark: string = randomUUID();
  readonly #socket = new Socket();
  readonly #client: pg.Client;
  /** The statement that reads the state. */
  readonly #state: string;
  readonly #lockFunction: string;

  constructor(connectionString: string, { lock, processId, synchronous, sharded }: Connecting) {
    this.#state = `${STATE}${synchronous ? ASYNCHRONOUS : ''}${sharded ? SHARDS : ''}`;
    this.#lockFunction = sharded ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
    this.#lock = lock;
    this.#processId = processId;
    this.#client = new DatabaseClient({
      connectionString,
      application_name: 'baton-orchestrator',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
      // The next batch is sent before the last one is answered.
      pipeline: true,
      stream: () => this.#socket,
    });
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.lost = promise;
    this.#client.on('error', resolve);
    this.#client.on('end', () => resolve(new Error('the session ended')));
  }

  async open(): Promise<void> {
    await this.#client.connect();
    await this.#client.query(PREPARE);
    // PostgreSQL 17 and later have a timeout for transactions too.
    await this.#client.query(
      `SELECT set_config('baton.session', $1, false)
       UNION ALL SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`,
      [this.#mark],
    );
    // Shared, because the session of before may not have ended yet.
    await this.#client.query('SELECT pg_advisory_lock_shared($1::bigint)', [String(processLock(this.#processId))]);
  }

  async tryLock(): Promise<LockAttempt> {
    const { rows } = await this.#client.query<StateRow & { acquired: boolean }>(
      `WITH before AS MATERIALIZED (${this.#state}) SELECT *, ${this.#lockFunction}($1::bigint) AS acquired FROM before`,
      [this.#lock, this.#mark],
    );
    return { ...stateOf(only(rows)), acquired: only(rows).acquired };
  }

  async lockShard(shard: number): Promise<boolean> {
    const { rows } = await this.#client.query<{ granted: boolean }>(
      'SELECT pg_try_advisory_lock($1::int, $2::int) AS granted',
      [this.#lock, shard],
    );
    return only(rows).granted;
  }

  async unlockShard(shard: number): Promise<void> {
    await this.#client.query('SELECT pg_advisory_unlock($1::int, $2::int)', [this.#lock, shard]);
  }

  async check(): Promise<SessionState> {
    const { rows } = await this.#client.query<StateRow>(this.#state, [this.#lock, this.#mark]);
    return stateOf(only(rows));
  }

  /**
   * Sent immediately, behind the statements in flight. PostgreSQL executes them one after the other, each as a
   * transaction of its own.
   */
  commit: LogSession['commit'] = batch => this.#client.query(commitStatement(batch));

  async end(): Promise<void> {
    // The lock is released explicitly: the server may take a while to end the session, and a
    // standby would wait for that.
    await this.#client.query('SELECT pg_advisory_unlock_all()');
    await this.#client.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

function only<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the database answered without a row');
  return row;
}
