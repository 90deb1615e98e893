import type { LogEntry, LogSession } from '../log/index.ts';
import type { Auditor } from './auditor.ts';
import { type Database, DatabaseError } from './database.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

/** What a server is told when its session is gone. */
const CONNECTION_LOST = 'Connection terminated unexpectedly';
const LONGEST_HANG_MS = 35_000;

/**
 * The sessions that write: one at a time holds the leader's lock, as the advisory lock does it for real; unless the seed
 * says that locks do not hold, and the key alone must fence.
 */
export class Postgres {
  readonly database: Database;
  readonly auditor: Auditor;
  readonly at: Surroundings;
  readonly #waiting: { session: Session; granted: () => void }[] = [];
  #holder: Session | null = null;
  /** Sessions opened so far. */
  sessions = 0;
  /** Locks are given to whoever asks, as if the database had forgotten who holds them. */
  lockless = false;

  constructor(database: Database, auditor: Auditor, surroundings: Surroundings) {
    this.database = database;
    this.auditor = auditor;
    this.at = surroundings;
  }

  get holder(): Session | null {
    return this.#holder;
  }

  /** Calls `granted` once the session holds the lock. */
  lock(session: Session, granted: () => void): void {
    this.#waiting.push({ session, granted });
    this.#pass();
  }

  /** Ends a session as the database sees it: its lock is free, nothing of it is committed any more. */
  end(session: Session): void {
    if (!session.open) return;
    session.open = false;
    if (this.#holder === session) this.#holder = null;
    this.#pass();
  }

  #pass(): void {
    if (this.#holder !== null && !this.lockless) return;
    const next = this.#waiting.findIndex(({ session }) => session.open && session.server.alive);
    const [waiting] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (waiting === undefined) return;
    if (this.#holder !== null) this.at.count('leader beside the leader');
    this.#holder = waiting.session;
    // A standby asks every second.
    const delay = this.at.random.below(this.at.calm ? 10 : 1_000);
    waiting.session.server.later(delay, waiting.granted);
  }
}

type Fate = { sendMs: number; answerMs: number; applies: boolean; answers: 'ok' | 'lost' | 'never' | 'disk full' };

/** One connection of one server, which writes the log through it. */
export class Session implements LogSession {
  readonly server: Server;
  /** Stands beside what it writes. */
  readonly writer: string;
  readonly #postgres: Postgres;
  /** As the database sees it. */
  open = true;
  /** As the server sees it. */
  #broken = false;
  #pending = false;
  /** Whether a commit is under way. */
  get committing(): boolean {
    return this.#pending && !this.#broken;
  }
  readonly #onLost: (cause: unknown) => void;

  constructor(postgres: Postgres, server: Server, onLost: (cause: unknown) => void) {
    this.#postgres = postgres;
    this.server = server;
    this.writer = `${server.name}, session ${++postgres.sessions}`;
    this.#onLost = onLost;
  }

  commit(batch: readonly LogEntry[]): Promise<unknown> {
    const { at } = this.#postgres;
    if (!this.server.seam()) return new Promise(() => {});
    if (this.#broken) return Promise.reject(new Error(CONNECTION_LOST));
    if (this.#pending) at.fail('log', 'a commit was sent while another one was under way');
    this.#pending = true;
    const fate = this.#fate();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    at.agenda.after(fate.sendMs, () => {
      const error = this.#execute(batch, fate);
      this.server.later(fate.answerMs, () => {
        if (this.#broken) reject(new Error(CONNECTION_LOST));
        else if (fate.answers === 'lost') this.#lose(reject);
        else if (fate.answers === 'never')
          this.server.later(at.random.below(LONGEST_HANG_MS), () => this.#lose(reject));
        else if (!this.server.seam()) return;
        else {
          this.#pending = false;
          if (error === null) resolve(null);
          else reject(error);
        }
      });
    });
    return promise;
  }

  /** The server ends it, or is told that it has ended. */
  break(cause: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    // The database finishes what it was at before it looks.
    const { at } = this.#postgres;
    at.agenda.after(at.random.below(at.calm ? 5 : 50), () => this.#postgres.end(this));
    this.#onLost(cause);
  }

  /** The database ends it, or the network does; the server hears of it in `afterMs`. */
  cut(afterMs: number): void {
    this.#postgres.end(this);
    this.server.later(afterMs, () => this.break(new Error(CONNECTION_LOST)));
  }

  #lose(reject: (error: unknown) => void): void {
    this.break(new Error(CONNECTION_LOST));
    reject(new Error(CONNECTION_LOST));
  }

  /** What the database does with a statement that has reached it; null or why it refuses. */
  #execute(batch: readonly LogEntry[], fate: Fate): Error | null {
    const { at, database, auditor } = this.#postgres;
    if (!this.open) return new Error(CONNECTION_LOST);
    if (fate.answers === 'disk full') return new DatabaseError('53100');
    if (!fate.applies || (!this.server.alive && at.random.chance(0.5))) return null;
    try {
      database.apply(batch, this.writer);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.constraint !== undefined) at.count(`fence: ${error.constraint === 'runs_pkey' ? 'runs' : 'events'}`);
      if (batch.length > 1) at.count('batch bisected');
      return error;
    }
    if (!this.server.alive) at.count('commit of a dead process applied');
    auditor.committed(batch);
    return null;
  }

  #fate(): Fate {
    const { at } = this.#postgres;
    const { random } = at;
    const fate: Fate = { sendMs: random.below(3), answerMs: random.below(3), applies: true, answers: 'ok' };
    if (!at.trouble(0.06)) return fate;
    const kind = random.next();
    if (kind < 0.6) {
      at.count('slow commit');
      return { ...fate, sendMs: random.below(400), answerMs: random.below(400) };
    }
    if (kind < 0.72) {
      at.count('commit applied, answer lost');
      return { ...fate, answers: 'lost' };
    }
    if (kind < 0.84) {
      at.count('commit not applied, session lost');
      return { ...fate, applies: false, answers: 'lost' };
    }
    if (kind < 0.94) {
      at.count('commit hangs');
      return { ...fate, applies: random.chance(0.5), answers: 'never' };
    }
    at.count('commit refused: disk full');
    return { ...fate, applies: false, answers: 'disk full' };
  }
}
