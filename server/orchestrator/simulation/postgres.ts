import { type LogEntry, type LogSession, MOST_BATCHES } from '../log/index.ts';
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

/** A batch between its sending and its answer. */
type Commit = {
  readonly batch: readonly LogEntry[];
  readonly fate: Fate;
  /** Why the database refused it. */
  error: Error | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/**
 * One connection of one server, which writes the log through it. Batches are sent before those before them are answered;
 * the database takes them, and answers them, one after the other.
 */
export class Session implements LogSession {
  readonly server: Server;
  /** Stands beside what it writes. */
  readonly writer: string;
  readonly #postgres: Postgres;
  /** As the database sees it. */
  open = true;
  /** As the server sees it. */
  #broken = false;
  /** Whether what is sent now still reaches the database. */
  #reaches = true;
  /** Whether answers still reach the server. */
  #answers = true;
  /** Not answered yet, oldest first: on their way to the database, … */
  readonly #sent: Commit[] = [];
  /** … and on their way back. */
  readonly #executed: Commit[] = [];
  /** When the last of each is through, in virtual ms: nothing overtakes on a connection. */
  #sentBy = 0;
  #answeredBy = 0;
  readonly #onLost: (cause: unknown) => void;

  constructor(postgres: Postgres, server: Server, onLost: (cause: unknown) => void) {
    this.#postgres = postgres;
    this.server = server;
    this.writer = `${server.name}, session ${++postgres.sessions}`;
    this.#onLost = onLost;
  }

  /** Whether a commit is under way. */
  get committing(): boolean {
    return this.#underWay.length > 0 && !this.#broken;
  }

  get #underWay(): readonly Commit[] {
    return [...this.#sent, ...this.#executed];
  }

  commit(batch: readonly LogEntry[]): Promise<unknown> {
    const { at } = this.#postgres;
    if (!this.server.seam()) return new Promise(() => {});
    if (this.#broken) return Promise.reject(new Error(CONNECTION_LOST));
    this.#checkSending(batch);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const commit: Commit = { batch, fate: this.#fate(), error: null, resolve, reject };
    this.#sent.push(commit);
    this.#sentBy = Math.max(this.#sentBy, at.agenda.now + commit.fate.sendMs);
    at.agenda.after(this.#sentBy - at.agenda.now, () => this.#arrived());
    return promise;
  }

  /** What the database could not see: two batches of one run would leave a hole in its log if the first were refused. */
  #checkSending(batch: readonly LogEntry[]): void {
    const { at } = this.#postgres;
    const before = this.#underWay;
    if (before.length > 0) at.count('batch behind a batch');
    if (before.length >= MOST_BATCHES) at.fail('log', 'a batch was sent while as many as may be were under way');
    const runs = new Set(before.flatMap(commit => commit.batch.map(({ runId }) => runId)));
    for (const { runId } of batch) {
      if (runs.has(runId)) at.fail('log', `${runId} has two entries under way`);
      runs.add(runId);
    }
  }

  /** The oldest that was sent has reached the database. */
  #arrived(): void {
    const commit = this.#sent.shift();
    if (commit === undefined) return;
    const { at } = this.#postgres;
    commit.error = this.#execute(commit);
    this.#executed.push(commit);
    this.#answeredBy = Math.max(this.#answeredBy, at.agenda.now + commit.fate.answerMs);
    this.server.later(this.#answeredBy - at.agenda.now, () => this.#answered());
  }

  /** The answer of the oldest that was executed is there, or would be. */
  #answered(): void {
    const commit = this.#executed[0];
    if (commit === undefined || !this.#answers) return;
    const { at } = this.#postgres;
    const { answers } = commit.fate;
    if (this.#broken || answers === 'lost') this.#lose();
    else if (answers === 'never') {
      this.#answers = false;
      this.server.later(at.random.below(LONGEST_HANG_MS), () => this.#lose());
    } else if (this.server.seam()) {
      this.#executed.shift();
      if (commit.error === null) commit.resolve(null);
      else commit.reject(commit.error);
    }
  }

  /** The server ends it, or is told that it has ended. */
  break(cause: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    // The database finishes what it was at before it looks.
    const { at } = this.#postgres;
    at.agenda.after(at.random.below(at.calm ? 5 : 50), () => this.#postgres.end(this));
    if (this.#underWay.length > 1) at.count('session lost with two batches under way');
    // The driver tells whoever waits, a moment later.
    this.server.later(0, () => this.#rejectAll());
    this.#onLost(cause);
  }

  /** The database ends it, or the network does; the server hears of it in `afterMs`. */
  cut(afterMs: number): void {
    this.#postgres.end(this);
    this.server.later(afterMs, () => this.break(new Error(CONNECTION_LOST)));
  }

  #lose(): void {
    this.break(new Error(CONNECTION_LOST));
    this.#rejectAll();
  }

  /** None of them will be answered; those that are on their way may be executed all the same. */
  #rejectAll(): void {
    for (const commit of this.#underWay) commit.reject(new Error(CONNECTION_LOST));
    this.#executed.length = 0;
  }

  /** What the database does with a batch that has reached it; null or why it refuses. */
  #execute({ batch, fate }: Commit): Error | null {
    const { at, database, auditor } = this.#postgres;
    if (!this.open) return new Error(CONNECTION_LOST);
    if (fate.answers === 'disk full') return new DatabaseError('53100');
    // What follows something that never arrived does not arrive either.
    if (!fate.applies || (!this.server.alive && at.random.chance(0.5))) this.#reaches = false;
    if (!this.#reaches) return null;
    try {
      database.apply(batch, this.writer);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.constraint !== undefined) at.count(`fence: ${error.constraint === 'runs_pkey' ? 'runs' : 'events'}`);
      if (batch.length > 1) at.count('batch bisected');
      return error;
    }
    if (!this.server.alive) at.count('commit of a dead process applied');
    if (this.#broken) at.count('commit of a lost session applied');
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
