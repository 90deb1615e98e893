import type { SessionState } from '../executors/embedded/leadership/leader-connection.ts';
import type { Auditor } from './auditor.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * The backend that serves a session in the database, and holds its lock. Behind a pooler in transaction mode several
 * sessions share one.
 */
export type Backend = { readonly id: number; mark: Session | null };

/**
 * The server that sessions lead to: one backend at a time holds the leader's lock, as the advisory lock does it for real;
 * unless the seed says that locks do not hold, and the key alone must fence.
 */
export class Postgres {
  readonly database: Database;
  readonly auditor: Auditor;
  readonly at: Surroundings;
  /** Sessions opened so far. */
  sessions = 0;
  /** Locks are granted to every session, as if the database had forgotten their holders. */
  lockless = false;
  /** Failed over to a standby that is not promoted yet. */
  readOnly = false;
  diskFull = false;
  /** Behind a pooler in transaction mode: the backend that all sessions share. */
  #shared: Backend | null = null;
  #holder: Backend | null = null;
  #backends = 0;
  readonly #open = new Set<Session>();

  constructor(database: Database, auditor: Auditor, surroundings: Surroundings) {
    this.database = database;
    this.auditor = auditor;
    this.at = surroundings;
  }

  get pooled(): boolean {
    return this.#shared !== null;
  }

  /** From now on all new sessions share one backend. */
  pool(): void {
    this.#shared = this.#newBackend();
  }

  /** The pooler is gone, and what it served. */
  unpool(): void {
    if (this.#holder === this.#shared) this.#holder = null;
    this.#shared = null;
    this.endAll();
  }

  /** A failover: every session ends, and those after it cannot write until the standby is promoted. */
  failOver(): void {
    this.readOnly = true;
    this.endAll();
  }

  endAll(): void {
    for (const session of [...this.#open]) session.cut(this.at.random.below(100));
  }

  /** A session begins. */
  begin(session: Session): void {
    session.backend = this.#shared ?? this.#newBackend();
    session.backend.mark = session;
    session.isOpen = true;
    this.#open.add(session);
  }

  holds(session: Session | null): boolean {
    return session?.isOpen === true && session.backend !== null && this.#holder === session.backend;
  }

  tryLock(session: Session): boolean {
    if (this.holds(session)) return true;
    if (this.#holder !== null && !this.lockless) return false;
    if (this.#holder !== null) this.at.count('leader beside the leader');
    this.#holder = session.backend;
    return true;
  }

  state(session: Session): SessionState {
    const { backend } = session;
    // Two leaders beside each other both believe that they hold it.
    const holdsLock = this.holds(session) || (this.at.twoLed && session.acquired);
    return {
      backend: backend?.id ?? 0,
      marked: backend?.mark === session,
      holdsLock,
      readOnly: this.readOnly ? 'standby' : null,
    };
  }

  /** Ends a session as the database sees it: its lock is free, nothing of it is committed any more. */
  end(session: Session): void {
    if (!session.isOpen) return;
    session.isOpen = false;
    this.#open.delete(session);
    // What a pooler keeps open for others keeps its lock.
    if (session.backend !== this.#shared && this.#holder === session.backend) this.#holder = null;
  }

  unlock(session: Session): void {
    if (this.holds(session)) this.#holder = null;
  }

  #newBackend(): Backend {
    this.#backends += 1;
    return { id: this.#backends, mark: null };
  }
}
