import type { Alarm } from '../../../platform/clock.ts';
import { pause, within } from '../../../platform/deadlines.ts';
import type { LogSession } from '../../log/index.ts';
import {
  LEASE_MS,
  type LeaderConnection,
  type LeaderConnector,
  type LockAttempt,
  type SessionState,
} from './leader-connection.ts';

/**
 * How often a standby asks for the lock. The end of a session is noticed at once, so a takeover takes about a second.
 */
const STANDBY_INTERVAL_MS = 1_000;
/** The longest that a standby waits for the answer to one statement, and for a connection. */
const STATEMENT_TIMEOUT_MS = 4_000;
/**
 * How often a leader checks that its session is alive and still its own. It gives up a session that answered nothing
 * for `SILENT_CHECKS` such intervals, 7.5 s: no caller waits longer than 10 s for that (the API answers within 15 s).
 */
const LEASE_CHECK_MS = 2_500;
const SILENT_CHECKS = 3;
/** A leader whose session passed this many checks, a minute, counts as a success even if it had nothing to commit. */
const STEADY_CHECKS = 24;
const RELEASE_TIMEOUT_MS = 2_000;

/** This process may not lead, or may no longer lead; `message` is a sentence for operators. */
export class CannotLeadError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CannotLeadError';
  }
}

/**
 * The session of the leader: it holds the advisory lock, and it alone writes the log. So a write can only be committed
 * while the lock is held, even if the process was frozen meanwhile.
 */
export type LeaderSession = LogSession & {
  /** Settles when the session is gone, with the cause. */
  readonly lost: Promise<unknown>;
  /** Settles when something was committed, or the session was in order for long enough. */
  readonly proven: Promise<void>;
  readonly isProven: boolean;
  /**
   * Returns whether the server must still hold the lock for this session, unless somebody ended it. False in a process that
   * was frozen, before it learns what became of its session.
   */
  isHeld(): boolean;
  /** The shards whose locks it holds. */
  readonly shards: ReadonlySet<number>;
  /**
   * Asks for the lock of a shard; returns whether it holds it now. Does not reject: a session that cannot say what it
   * holds is broken.
   */
  take(shard: number): Promise<boolean>;
  /** Releases the lock of a shard, behind all commits that were sent. Does not reject. */
  give(shard: number): Promise<void>;
  /** Ends the session now, without asking the database. */
  break(cause: unknown): void;
  /** Releases the lock and ends the session, within two seconds. */
  release(): Promise<void>;
};

/**
 * Waits until this process leads; `onStandby` is called when another one does. Throws when the database cannot be reached
 * or does not answer, CannotLeadError where this process may not lead, and the reason of `signal` when that aborts: then
 * no connection is left behind.
 */
export async function acquireLeadership(options: {
  connect: LeaderConnector;
  alarm: Alarm;
  signal: AbortSignal;
  onStandby: () => void;
  /** Asked before each attempt; default: always. While it may not, this process stands by. */
  mayLead?: () => boolean;
}): Promise<LeaderSession> {
  const { connect, alarm, signal, onStandby, mayLead = () => true } = options;
  signal.throwIfAborted();
  const connection = connect();
  const ask = <T>(what: string, answer: Promise<T>): Promise<T> =>
    within(answer, { alarm, ms: STATEMENT_TIMEOUT_MS, what, signal, lost: connection.lost });
  try {
    await ask('the connection', connection.open());
    for (;;) {
      const attempt = await ask('the lock attempt', mayLead() ? connection.tryLock() : refrain(connection));
      const { backend } = attempt;
      refuse(faultOf(attempt, { backend, holdsLock: false, shards: NONE }));
      if (attempt.acquired) {
        // In a separate statement: a pooler that shares backends may send it to another one.
        const state = await ask('the check of the lock', connection.check());
        refuse(faultOf(state, { backend, holdsLock: true, shards: NONE }));
        signal.throwIfAborted();
        return new WatchedSession(connection, backend, alarm);
      }
      onStandby();
      await pause(alarm, STANDBY_INTERVAL_MS, signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Only keeps the session. */
async function refrain(connection: LeaderConnection): Promise<LockAttempt> {
  return { ...(await connection.check()), acquired: false };
}

const SHARED =
  'The connection to the database shares its sessions with other clients, as behind a pooler in transaction mode: ' +
  'use session pooling, or connect to PostgreSQL directly.';

function refuse(reason: string | null): void {
  if (reason !== null) throw new CannotLeadError(reason);
}

function readOnlyReason({ readOnly }: SessionState): string | null {
  if (readOnly === 'standby') return 'The database is a read-only standby that has not been promoted.';
  if (readOnly === 'setting') return 'The database is set to read-only (default_transaction_read_only).';
  if (readOnly === 'asynchronous') return 'The database does not replicate synchronously (BATON_REPLICATION=require).';
  return null;
}

/**
 * Returns why the session is not as expected, or null if it is. If the backend holds the lock before this connection
 * asked for it, it acquired the lock for another connection: PostgreSQL would grant it again, and both would lead.
 */
function faultOf(state: SessionState, expected: Expected): string | null {
  if (!state.marked || state.backend !== expected.backend || (state.holdsLock && !expected.holdsLock)) return SHARED;
  if (expected.holdsLock && !state.holdsLock) return 'The session no longer holds the lock of the leader.';
  const missing = [...expected.shards].find(shard => !state.shards.includes(shard));
  if (missing !== undefined) return `The session no longer holds the lock of shard ${missing}.`;
  return readOnlyReason(state);
}

type Expected = { backend: number; holdsLock: boolean; shards: ReadonlySet<number> };
const NONE: ReadonlySet<number> = new Set();

class WatchedSession implements LeaderSession {
  readonly lost: Promise<unknown>;
  readonly proven: Promise<void>;
  isProven = false;
  readonly shards = new Set<number>();
  readonly #connection: LeaderConnection;
  readonly #backend: number;
  readonly #alarm: Alarm;
  readonly #lose: (cause: unknown) => void;
  readonly #prove: () => void;
  #gone = false;
  /** Answers so far, refusals among them. */
  #answers = 0;
  #checking = false;
  /** When the latest check that was answered was sent, in ms of performance.now. */
  #checkedAt = performance.now();
  #checksInOrder = 0;
  #cancelCheck: () => void = () => undefined;

  constructor(connection: LeaderConnection, backend: number, alarm: Alarm) {
    this.#connection = connection;
    this.#backend = backend;
    this.#alarm = alarm;
    const { promise: lost, resolve: lose } = Promise.withResolvers<unknown>();
    this.lost = lost;
    this.#lose = lose;
    const { promise: proven, resolve: prove } = Promise.withResolvers<void>();
    this.proven = proven;
    this.#prove = prove;
    void connection.lost.then(cause => this.break(cause));
    this.#watch(0, 0);
  }

  commit: LogSession['commit'] = async batch => {
    try {
      const answer = await this.#connection.commit(batch);
      if (!this.isProven) this.#isProvenNow();
      return answer;
    } finally {
      this.#answers += 1;
    }
  };

  async take(shard: number): Promise<boolean> {
    const granted = await this.#ask(this.#connection.lockShard(shard));
    if (granted === true && !this.#gone) this.shards.add(shard);
    return this.shards.has(shard);
  }

  async give(shard: number): Promise<void> {
    // Before it is sent: a check behind it finds the lock gone.
    this.shards.delete(shard);
    await this.#ask(this.#connection.unlockShard(shard));
  }

  /**
   * Returns the answer about a lock; undefined where there is none, and then the session is broken. Without a time limit:
   * it waits behind commits, which may wait for a replica, and the watch ends a session that is silent.
   */
  async #ask<T>(answer: Promise<T>): Promise<T | undefined> {
    try {
      return await Promise.race([answer, this.lost.then(() => undefined)]);
    } catch (cause) {
      this.break(cause);
      return undefined;
    } finally {
      this.#answers += 1;
    }
  }

  isHeld(): boolean {
    return !this.#gone && performance.now() - this.#checkedAt < LEASE_MS;
  }

  break(cause: unknown): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#cancelCheck();
    this.#lose(cause);
    this.#connection.destroy();
  }

  async release(): Promise<void> {
    if (this.#gone) return;
    // Time-limited: a statement that hangs would keep the session, and with it the lock.
    const { signal } = new AbortController();
    const limits = { alarm: this.#alarm, ms: RELEASE_TIMEOUT_MS, what: 'the release of the lock', signal };
    await within(this.#connection.end(), { ...limits, lost: this.#connection.lost }).catch(() => undefined);
    this.break(new Error('the session was released'));
  }

  #isProvenNow(): void {
    this.isProven = true;
    this.#prove();
  }

  /** Checks after an interval whether anything was answered since `answers`; the last `silent` checks found nothing. */
  #watch(answers: number, silent: number): void {
    this.#cancelCheck = this.#alarm(LEASE_CHECK_MS, () => {
      const silentNow = this.#answers === answers && this.#checking ? silent + 1 : 0;
      if (silentNow >= SILENT_CHECKS) {
        this.break(new Error('the database does not answer'));
        return;
      }
      if (!this.#checking) void this.#check();
      this.#watch(this.#answers, silentNow);
    });
  }

  /** Runs alongside commits; on the connection it is queued behind them. */
  async #check(): Promise<void> {
    this.#checking = true;
    const sentAt = performance.now();
    // Those whose locks it held when the check was sent, and holds still.
    const held = [...this.shards];
    try {
      const state = await this.#connection.check();
      const shards = new Set(held.filter(shard => this.shards.has(shard)));
      const fault = faultOf(state, { backend: this.#backend, holdsLock: true, shards });
      this.#checkedAt = sentAt;
      if (fault !== null) this.break(new CannotLeadError(fault));
      else if (++this.#checksInOrder === STEADY_CHECKS && !this.isProven) this.#isProvenNow();
    } catch {
      // A refusal is also an answer. If the session has ended, `lost` says so.
    } finally {
      this.#answers += 1;
      this.#checking = false;
    }
  }
}
