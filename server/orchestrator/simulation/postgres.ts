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
  /** The backends that share the leader's lock in a cluster, and the session that holds the lock of each shard. */
  readonly #sharers = new Set<Backend>();
  readonly #shardHolders = new Map<number, Session>();
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
    if (session?.isOpen !== true || session.backend === null) return false;
    return this.#holder === session.backend || this.#sharers.has(session.backend);
  }

  /** Whether the session holds the lock under which the runs of a workspace are written. */
  holdsFor(session: Session | null, tenantId: string): boolean {
    const topology = session?.server.topology ?? null;
    if (topology === null) return this.holds(session);
    return session?.isOpen === true && this.#shardHolders.get(topology.shardOf(tenantId)) === session;
  }

  /** Returns the name of the process that holds the lock of each shard. */
  shardHolders(): [shard: number, process: string][] {
    return [...this.#shardHolders].map(([shard, { server }]) => [shard, server.name]);
  }

  lockShard(session: Session, shard: number): boolean {
    const holder = this.#shardHolders.get(shard);
    if (holder !== undefined && holder !== session) return false;
    this.#shardHolders.set(shard, session);
    return true;
  }

  unlockShard(session: Session, shard: number): void {
    if (this.#shardHolders.get(shard) === session) this.#shardHolders.delete(shard);
  }

  tryLock(session: Session): boolean {
    if (this.holds(session)) return true;
    if (session.server.topology !== null && session.backend !== null) {
      this.#sharers.add(session.backend);
      return true;
    }
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
      shards: [...this.#shardHolders].flatMap(([shard, holder]) => (holder === session ? [shard] : [])),
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
    this.#unlockAll(session);
  }

  unlock(session: Session): void {
    if (this.#holder === session.backend && session.isOpen) this.#holder = null;
    this.#unlockAll(session);
  }

  #unlockAll(session: Session): void {
    if (session.backend !== null) this.#sharers.delete(session.backend);
    for (const [shard, holder] of this.#shardHolders) if (holder === session) this.#shardHolders.delete(shard);
  }

  #newBackend(): Backend {
    this.#backends += 1;
    return { id: this.#backends, mark: null };
  }
}
