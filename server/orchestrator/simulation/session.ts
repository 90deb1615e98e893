import { type LogEntry, MAX_BATCHES } from '../log/index.ts';
import type { LeaderConnection, LockAttempt, SessionState } from '../runtime/leadership/leader-connection.ts';
import { LEASE_MS } from '../runtime/leadership/leader-connection.ts';
import { DatabaseError } from './database.ts';
import type { Backend, Postgres } from './postgres.ts';
import type { Server } from './server.ts';

/** The error of a server whose session is lost. */
class ConnectionLost extends Error {
  constructor() {
    super('Connection terminated unexpectedly');
  }
}
const MAX_HANG_MS = 35_000;

type Fate = { sendMs: number; answerMs: number; applies: boolean; answers: 'ok' | 'lost' | 'never' | 'disk full' };

/** A statement, from when it is sent to when it is answered. */
type Statement = {
  /** The entries that it writes, or null. */
  readonly batch: readonly LogEntry[] | null;
  readonly fate: Fate;
  readonly execute: () => unknown;
  /** Only the session itself waits for the statement. */
  readonly background: boolean;
  answer: unknown;
  /** Why the database refused it, or null. */
  error: Error | null;
  resolve(value: unknown): void;
  reject(error: unknown): void;
};

/**
 * One connection of one server, with which it leads and writes the log. Statements are sent before earlier ones are
 * answered; the database receives, executes and answers them in order.
 */
export class Session implements LeaderConnection {
  readonly server: Server;
  /** Stored with the rows that it writes. */
  readonly writer: string;
  /** The term of its process, once the process leads. */
  term: number | null = null;
  readonly lost: Promise<unknown>;
  readonly #postgres: Postgres;
  backend: Backend | null = null;
  /** Whether it is open on the database's side. */
  isOpen = false;
  /** Whether it was granted the lock. */
  acquired = false;
  /** Whether the database was read-only when it asked for the lock. */
  readOnlyWhenLocked = false;
  /** Whether a commit succeeded and the server knows it. */
  committed = false;
  /** Whether it is broken on the server's side. */
  #broken = false;
  /** Whether the connection drops everything permanently, in both directions and without an error on either side. */
  #silent = false;
  /** Whether statements sent now still reach the database. */
  #reaches = true;
  /** Whether answers still reach the server. */
  #answers = true;
  /** Statements that have not been answered, oldest first: those that have not reached the database yet. */
  readonly #sent: Statement[] = [];
  /** Statements whose answers have not reached the server yet. */
  readonly #executed: Statement[] = [];
  /** When the last of each will have arrived, in virtual ms: a connection preserves the order. */
  #sentBy = 0;
  #answeredBy = 0;
  /** When the database last received data from the session. */
  #heardAt = 0;
  readonly #lose: (cause: unknown) => void;

  constructor(postgres: Postgres, server: Server) {
    this.#postgres = postgres;
    this.server = server;
    this.writer = `${server.name}, session ${++postgres.sessions}`;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.lost = promise;
    this.#lose = resolve;
  }

  /** Returns whether a commit is in flight. */
  get committing(): boolean {
    return !this.#broken && this.#underWay.some(({ batch }) => batch !== null);
  }

  /** Whether both sides can reach each other, as far as either knows. */
  get healthy(): boolean {
    return this.isOpen && !this.#broken && !this.#silent && this.#answers;
  }

  get isSilent(): boolean {
    return this.#silent;
  }

  get #underWay(): readonly Statement[] {
    return [...this.#sent, ...this.#executed];
  }

  open(): Promise<void> {
    const { at } = this.#postgres;
    if (this.server.connectsInVain) this.silence();
    return this.#ask<void>(() => {
      this.#postgres.begin(this);
      this.#heardAt = at.agenda.now;
      this.#watchLease(LEASE_MS);
    });
  }

  tryLock(): Promise<LockAttempt> {
    return this.#ask(() => {
      const state = this.#postgres.state(this);
      this.readOnlyWhenLocked = state.readOnly !== null;
      const acquired = this.#postgres.tryLock(this);
      this.acquired ||= acquired;
      return { ...state, acquired };
    });
  }

  lockShard(shard: number): Promise<boolean> {
    return this.#ask(() => this.#postgres.lockShard(this, shard));
  }

  unlockShard(shard: number): Promise<void> {
    return this.#ask<void>(() => this.#postgres.unlockShard(this, shard));
  }

  check(): Promise<SessionState> {
    return this.#ask(() => this.#postgres.state(this));
  }

  end(): Promise<void> {
    return this.#ask<void>(() => {
      this.#postgres.unlock(this);
      this.#postgres.end(this);
    });
  }

  commit(batch: readonly LogEntry[]): Promise<unknown> {
    if (!this.server.seam()) return new Promise(() => {});
    if (!this.#broken) this.#checkSending(batch);
    const fate = this.#commitFate();
    return this.#send({ batch, fate, background: false, execute: () => this.#write(batch, fate) });
  }

  /** Dropped by the server. */
  destroy(): void {
    if (this.#broken) return;
    this.#broken = true;
    // The database finishes what it is executing before it notices.
    const { at } = this.#postgres;
    const busyMs = at.calm ? 5 : at.random.chance(0.2) ? 500 : 50;
    if (!this.#silent) at.agenda.after(at.random.below(busyMs), () => this.#postgres.end(this));
    if (this.#underWay.filter(({ batch }) => batch !== null).length > 1)
      at.count('session lost with two batches under way');
    // The driver rejects the waiting statements a moment later.
    this.server.later(0, () => this.#rejectAll());
  }

  /** Ends the session from the side of the database or the network. The server learns this in `afterMs`. */
  cut(afterMs: number): void {
    this.#postgres.end(this);
    if (!this.#silent) this.server.later(afterMs, () => this.#isLost());
  }

  /** Drops everything from now on, and neither side ever gets an error. */
  silence(): void {
    this.#silent = true;
    this.#reaches = false;
    this.#answers = false;
  }

  #ask<T>(execute: () => T): Promise<T> {
    return this.#send({ batch: null, fate: this.#fate(), background: true, execute }) as Promise<T>;
  }

  #send(of: Pick<Statement, 'batch' | 'fate' | 'background' | 'execute'>): Promise<unknown> {
    const { at } = this.#postgres;
    if (this.#broken) return Promise.reject(new ConnectionLost());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const statement: Statement = { ...of, answer: null, error: null, resolve, reject };
    this.#sent.push(statement);
    this.#sentBy = Math.max(this.#sentBy, at.agenda.now + of.fate.sendMs);
    at.agenda.after(this.#sentBy - at.agenda.now, () => this.#arrived(), of.background);
    return promise;
  }

  /**
   * Checks for a hazard that the database could not detect: if two batches contained the same run, and the first one
   * were refused, the second would leave a gap in its log.
   */
  #checkSending(batch: readonly LogEntry[]): void {
    const { at } = this.#postgres;
    const before = this.#underWay.flatMap(statement => (statement.batch === null ? [] : [statement.batch]));
    if (before.length > 0) at.count('batch behind a batch');
    if (before.length >= MAX_BATCHES) at.fail('log', 'a batch was sent while as many as may be were under way');
    const runs = new Set(before.flatMap(each => each.map(({ runId }) => runId)));
    for (const { runId } of batch) {
      if (runs.has(runId)) at.fail('log', `${runId} has two entries under way`);
      runs.add(runId);
    }
    // Elsewhere another session may insert the same ids: in another order, each would wait for the other.
    for (const [index, { runId }] of batch.entries())
      if (index > 0 && runId < (batch[index - 1]?.runId ?? '')) at.fail('log', `${runId} is written out of order`);
    const { batchBytes } = this.server.config.writerLimits;
    for (const { runId, payloads, created } of batch) {
      // The start of a run is a single event, whose input and overrides may both be large.
      if (created !== undefined) continue;
      const bytes = payloads.reduce((sum, { json }) => sum + json.length, 0);
      if (payloads.length > 1 && bytes > batchBytes) at.fail('log', `an entry of ${runId} has ${bytes} bytes`);
      if (payloads.length > 1) at.count('large results in one entry');
    }
  }

  /** Handles the arrival of the oldest sent statement at the database, unless the network dropped it. */
  #arrived(): void {
    const statement = this.#sent.shift();
    if (statement === undefined) return;
    const { at } = this.#postgres;
    try {
      statement.answer = this.#execute(statement);
    } catch (error) {
      if (!(error instanceof DatabaseError || error instanceof ConnectionLost)) throw error;
      statement.error = error;
    }
    this.#executed.push(statement);
    this.#answeredBy = Math.max(this.#answeredBy, at.agenda.now + statement.fate.answerMs);
    this.server.later(this.#answeredBy - at.agenda.now, () => this.#answered(), statement.background);
  }

  #execute({ batch, fate, execute }: Statement): unknown {
    const { at } = this.#postgres;
    // The first statement opens the session. Later ones find that the database has ended it.
    if (!this.isOpen && this.backend !== null) throw new ConnectionLost();
    if (batch !== null && fate.answers === 'disk full') throw new DatabaseError('53100');
    // After a statement that never arrived, no later one arrives either.
    if (!fate.applies || (!this.server.alive && at.random.chance(0.5))) this.#reaches = false;
    if (!this.#reaches || (this.#broken && this.backend === null)) return null;
    this.#heardAt = at.agenda.now;
    return execute();
  }

  /** Handles the arrival of the answer to the oldest executed statement, unless it was lost. */
  #answered(): void {
    const statement = this.#executed[0];
    if (statement === undefined || !this.#answers) return;
    const { at } = this.#postgres;
    const { answers } = statement.fate;
    if (this.#broken || answers === 'lost') this.#isLost();
    else if (answers === 'never') {
      this.#answers = false;
      this.server.later(at.random.below(MAX_HANG_MS), () => this.#isLost());
    } else if (this.server.seam()) {
      this.#executed.shift();
      if (statement.error !== null) statement.reject(statement.error);
      else {
        if (statement.batch !== null) this.committed = true;
        statement.resolve(statement.answer);
      }
    }
  }

  #isLost(): void {
    if (!this.#broken) {
      this.destroy();
      this.#lose(new ConnectionLost());
    }
    this.#rejectAll();
  }

  /** Rejects all statements. Those already sent may still be executed. */
  #rejectAll(): void {
    for (const statement of this.#underWay) statement.reject(new ConnectionLost());
    this.#executed.length = 0;
    this.#lose(new ConnectionLost());
  }

  /** Executes a batch in the database. Throws the error of a refusal. */
  #write(batch: readonly LogEntry[], { answers }: Fate): null {
    const { at, database, auditor } = this.#postgres;
    if (this.#postgres.readOnly) throw new DatabaseError('25006');
    if (this.#postgres.diskFull) {
      at.count('commit refused: disk full');
      throw new DatabaseError('53100');
    }
    if (at.trouble(0.01)) {
      at.count('commit refused: deadlock');
      throw new DatabaseError('40P01');
    }
    for (const { runId, owner } of batch)
      if (!at.twoLed && !this.#postgres.holdsFor(this, owner.tenantId))
        at.fail('owner', `${runId} is written by ${this.server.name}, which does not hold the lock of its shard`);
    try {
      database.apply(batch, this.writer);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (error.constraint !== undefined) at.count(`fence: ${error.constraint === 'runs_pkey' ? 'runs' : 'events'}`);
      if (batch.length > 1) at.count('batch bisected');
      throw error;
    }
    if (!this.server.alive) at.count('commit of a dead process applied');
    if (this.#broken) at.count('commit of a lost session applied');
    if (answers === 'lost') at.count('commit applied, answer lost');
    auditor.committed(batch, this.term);
    return null;
  }

  /** The database ends a session from which it has received nothing for the duration of its lease. */
  #watchLease(inMs: number): void {
    const { at } = this.#postgres;
    at.agenda.after(
      inMs,
      () => {
        if (!this.isOpen) return;
        const left = this.#heardAt + LEASE_MS - at.agenda.now;
        if (left > 0) this.#watchLease(left);
        else {
          at.count('lease over');
          this.cut(at.random.below(3));
        }
      },
      true,
    );
  }

  /** The fate of a statement that is not a commit. */
  #fate(): Fate {
    const { at } = this.#postgres;
    const { random } = at;
    const fate: Fate = { sendMs: random.below(3), answerMs: random.below(3), applies: true, answers: 'ok' };
    if (!at.trouble(0.03)) return fate;
    at.count('slow statement of the session');
    const longest = random.chance(0.8) ? 800 : 8_000;
    return { ...fate, sendMs: random.below(longest), answerMs: random.below(longest) };
  }

  #commitFate(): Fate {
    const { at } = this.#postgres;
    const { random } = at;
    const fate: Fate = { sendMs: random.below(3), answerMs: random.below(3), applies: true, answers: 'ok' };
    // The statement is still on its way when the session is lost.
    const before = this.#underWay.findLast(({ batch }) => batch !== null);
    if (before?.fate.answers === 'lost') return { ...fate, sendMs: random.below(40) };
    if (!at.trouble(0.06)) return fate;
    const kind = random.next();
    if (kind < 0.6) {
      at.count('slow commit');
      return { ...fate, sendMs: random.below(400), answerMs: random.below(400) };
    }
    if (kind < 0.72) return { ...fate, answers: 'lost' };
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
