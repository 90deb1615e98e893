import type { SessionState } from '../runtime/leadership/leader-connection.ts';
import type { Auditor } from './auditor.ts';
import type { Database } from './database.ts';
import type { Session } from './session.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * The database backend that serves a session and holds its lock. Behind a pooler in transaction mode,
 * several sessions share one.
 */
export type Backend = { readonly id: number; mark: Session | null };

/**
 * The server to which sessions connect. One backend at a time holds the leader's lock, like the real advisory lock,
 * unless the seed says that locks do not hold, so that only the primary key can fence.
 */
export class Postgres {
  readonly database: Database;
  readonly auditor: Auditor;
  readonly at: Surroundings;
  /** Number of sessions opened so far. */
  sessions = 0;
  /** Locks are granted to every session, as if the database had forgotten their holders. */
  lockless = false;
  /** Whether it has failed over to a standby that is not promoted yet. */
  readOnly = false;
  diskFull = false;
  /** Behind a pooler in transaction mode, the backend that all sessions share. */
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

  /** Makes all new sessions share one backend from now on. */
  pool(): void {
    this.#shared = this.#newBackend();
  }

  /** Removes the pooler, with the sessions that it served. */
  unpool(): void {
    if (this.#holder === this.#shared) this.#holder = null;
    this.#shared = null;
    this.endAll();
  }

  /** A failover: every session ends, and later ones cannot write until the standby is promoted. */
  failOver(): void {
    this.readOnly = true;
    this.endAll();
  }

  endAll(): void {
    for (const session of [...this.#open]) session.cut(this.at.random.below(100));
  }

  /** Begins a session. */
  begin(session: Session): void {
    session.backend = this.#shared ?? this.#newBackend();
    session.backend.mark = session;
    session.isOpen = true;
    this.#open.add(session);
  }

  /** Whether a session of this process is open, so that its own lock is held. */
  knows(process: string): boolean {
    return [...this.#open].some(({ server }) => server.name === process);
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
    // If two processes lead, both believe that they hold the lock.
    const holdsLock = this.holds(session) || (this.at.twoLed && session.acquired);
    return {
      backend: backend?.id ?? 0,
      marked: backend?.mark === session,
      holdsLock,
      readOnly: this.readOnly ? 'standby' : null,
    };
  }

  /** Ends a session on the database's side: its lock is released, and nothing more of it is committed. */
  end(session: Session): void {
    if (!session.isOpen) return;
    session.isOpen = false;
    this.#open.delete(session);
    // A backend that the pooler keeps open for other sessions keeps its lock.
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
