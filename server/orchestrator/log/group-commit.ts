import { type OrchestratorObserver, unobserved } from '../observer.ts';
import { entryBytes, type LogEntry } from './entry.ts';

/**
 * Where batches are written. When `commit` settles, all of the batch is on disk; when it rejects with the database's
 * refusal of a value, nothing of it is; any other rejection leaves that open.
 */
export type LogSession = { commit(batch: readonly LogEntry[]): Promise<unknown> };

/**
 * Why an entry was not written.
 * - `fenced`: another writer has advanced the run, or its id is taken (primary key).
 * - `rejected`: the database cannot hold a value of this entry.
 * - `lost`: the connection or the database failed; whether the entry was committed is unknown.
 */
export class AppendError extends Error {
  readonly kind: 'fenced' | 'rejected' | 'lost';
  constructor(kind: AppendError['kind'], cause: unknown) {
    super(`append ${kind}`, { cause });
    this.name = 'AppendError';
    this.kind = kind;
  }
}

export type WriterLimits = {
  /** Above either of these the log is `full`: callers are to be turned away and steps not begun. */
  queuedRows: number;
  queuedBytes: number;
  /** Most that one commit takes, so that a backlog never becomes one huge statement. */
  batchRows: number;
  batchBytes: number;
  /** Fewer entries are not sent beside a batch in flight: each commit has its price, and they can share one. */
  worthEntries: number;
};

/** 64 MiB of backlog is a few seconds of a busy database; 4,000 rows a commit is where a larger batch stops being faster. */
export const DEFAULT_LIMITS: WriterLimits = {
  queuedRows: 50_000,
  queuedBytes: 64 * 1024 * 1024,
  batchRows: 4_000,
  batchBytes: 8 * 1024 * 1024,
  worthEntries: 16,
};

/**
 * Batches in flight at once: the next one is at the database before the previous one is answered, so that the database
 * waits neither for the runs nor for the network. The runs of two batches are never the same (LogEntry), so they do not
 * depend on each other.
 */
export const MAX_BATCHES = 2;

type Waiting = { entry: LogEntry; bytes: number; resolve: () => void; reject: (error: AppendError) => void };

/**
 * Group commit (docs/adr/0008-what-a-commit-writes.md): entries that arrive while a batch is on its way are written
 * together by the next one, which is sent as soon as it is worth a commit of its own or nothing is on its way. An
 * entry that finds nothing on its way is written at once; no timer is involved. `append` settles after the commit.
 */
export class GroupCommitLog {
  readonly #session: LogSession;
  readonly #limits: WriterLimits;
  #queue: Waiting[] = [];
  /** Queued and on the way. */
  #rows = 0;
  #bytes = 0;
  #underWay = 0;
  #sending = false;
  /** When the database last answered, by performance.now(). */
  #answeredAt = 0;
  #lost: AppendError | null = null;
  #whenRoom: (() => void)[] = [];
  #whenIdle: (() => void)[] = [];
  readonly #onLost: (cause: unknown) => void;
  readonly #observer: OrchestratorObserver;

  /** `onLost` is called once, when a write failed for a reason that is not in the entries themselves. */
  constructor(
    session: LogSession,
    onLost: (cause: unknown) => void,
    limits: WriterLimits = DEFAULT_LIMITS,
    observer: OrchestratorObserver = unobserved,
  ) {
    this.#session = session;
    this.#onLost = onLost;
    this.#limits = limits;
    this.#observer = observer;
  }

  /** Whether the backlog has reached its bound. One more append is still taken: it is for the caller to hold back. */
  get full(): boolean {
    return this.#rows >= this.#limits.queuedRows || this.#bytes >= this.#limits.queuedBytes;
  }

  /** Rows queued and on the way. */
  get backlogRows(): number {
    return this.#rows;
  }

  /** Bytes queued and on the way. */
  get backlogBytes(): number {
    return this.#bytes;
  }

  /** Calls `listener` once, as soon as the backlog is below its bound. */
  onRoom(listener: () => void): void {
    this.#whenRoom.push(listener);
  }

  /** Settles after the commit. Rejects with AppendError. */
  append(entry: LogEntry): Promise<void> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const bytes = entryBytes(entry);
    this.#rows += entry.rows.length;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      this.#queue.push({ entry, bytes, resolve, reject });
      if (this.#sending) return;
      this.#sending = true;
      // A microtask later, so that what is appended in the same breath shares the commit.
      queueMicrotask(() => {
        this.#sending = false;
        this.#sendQueued();
        this.#tellIdle();
      });
    });
  }

  /** Settles when everything appended so far is committed or refused. */
  drain(): Promise<void> {
    if (this.#idle) return Promise.resolve();
    return new Promise(resolve => this.#whenIdle.push(resolve));
  }

  /** Refuses everything that is queued, and all later entries: the connection is lost. */
  abandon(cause: unknown): void {
    if (this.#lost !== null) return;
    this.#lost = new AppendError('lost', cause);
    for (const waiting of this.#queue.splice(0)) this.#refuse(waiting, this.#lost);
  }

  get #idle(): boolean {
    return this.#underWay === 0 && this.#queue.length === 0;
  }

  #sendQueued(): void {
    while (this.#queue.length > 0 && this.#underWay < MAX_BATCHES) {
      if (this.#underWay > 0 && this.#queue.length < this.#limits.worthEntries) break;
      void this.#write(this.#takeBatch());
    }
  }

  #tellIdle(): void {
    if (this.#idle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #write(batch: Waiting[]): Promise<void> {
    this.#underWay += 1;
    const error = await this.#send(batch);
    if (error !== null) await this.#refused(batch, error);
    this.#underWay -= 1;
    // Sent before the callers react to this one: the database works while the runs decide.
    this.#sendQueued();
    if (error === null) this.#settle(batch);
    if (!this.full) for (const listener of this.#whenRoom.splice(0)) listener();
    this.#tellIdle();
  }

  /**
   * Takes the queued entries; if no batch is in flight and the queue is worth two batches, one half of it: the database
   * writes one half while the runs of the other decide. Otherwise they would take turns, each waiting for the other.
   */
  #takeBatch(): Waiting[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    const halved = this.#underWay === 0 && this.#queue.length >= 2 * this.#limits.worthEntries;
    const most = halved ? this.#queue.length >> 1 : this.#queue.length;
    for (const waiting of this.#queue) {
      rows += waiting.entry.rows.length;
      bytes += waiting.bytes;
      if (count === most || (count > 0 && (rows > this.#limits.batchRows || bytes > this.#limits.batchBytes))) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** One commit: null, or why it failed. */
  async #send(batch: readonly Waiting[]): Promise<unknown> {
    try {
      const sentAt = performance.now();
      await this.#session.commit(batch.map(waiting => waiting.entry));
      // One that was sent behind another began when that one was answered.
      const beganAt = Math.max(sentAt, this.#answeredAt);
      this.#answeredAt = performance.now();
      let rows = 0;
      for (const { entry } of batch) rows += entry.rows.length;
      this.#observer.batchCommitted(batch.length, rows, this.#answeredAt - beganAt);
      return null;
    } catch (error) {
      return error ?? new Error('the commit failed');
    }
  }

  #settle(batch: readonly Waiting[]): void {
    for (const waiting of batch) {
      this.#forget(waiting);
      waiting.resolve();
    }
  }

  /** Part of a batch that was refused. */
  async #writePart(batch: Waiting[]): Promise<void> {
    // The other half of a batch that the session was lost under.
    if (this.#lost !== null) return this.#lose(batch, this.#lost.cause);
    const error = await this.#send(batch);
    if (error !== null) await this.#refused(batch, error);
    else this.#settle(batch);
  }

  /** A batch that the database refuses is halved until the bad entry stands alone and fails by itself. */
  async #refused(batch: Waiting[], error: unknown): Promise<void> {
    const kind = failureKind(error);
    if (kind === 'lost') this.#lose(batch, error);
    else if (batch.length === 1) for (const waiting of batch) this.#refuse(waiting, new AppendError(kind, error));
    else {
      this.#observer.batchBisected();
      const half = batch.length >> 1;
      await this.#writePart(batch.slice(0, half));
      await this.#writePart(batch.slice(half));
    }
  }

  #lose(batch: Waiting[], cause: unknown): void {
    const first = this.#lost === null;
    this.abandon(cause);
    for (const waiting of batch) this.#refuse(waiting, this.#lost ?? new AppendError('lost', cause));
    if (first) this.#onLost(cause);
  }

  #refuse(waiting: Waiting, error: AppendError): void {
    this.#forget(waiting);
    this.#observer.appendRefused(error.kind);
    waiting.reject(error);
  }

  #forget(waiting: Waiting): void {
    this.#rows -= waiting.entry.rows.length;
    this.#bytes -= waiting.bytes;
  }
}

/** The primary keys of `runs` and of `run_events`; a violation has the name of the partition's own key. */
const FENCE = /^(?:runs|run_events(?:_\w+)?)_pkey$/;

/**
 * SQLSTATE classes 22 (data), 23 (constraints) and 54 (limits, such as nesting too deep) are faults of the entry, and
 * so is an error of the driver while it serialises values. Everything else, a full disk included, is not the entry's
 * fault: nor are class 42 (a column or a privilege is missing), 40 (deadlocks) and 55P03 (a lock was not available).
 * `rejected` would permanently fail the steps and runs of every tenant for a problem that an operator can repair; with
 * `lost` the leader steps down, waits ever longer and names the SQLSTATE in /readyz, and every run continues
 * afterwards.
 */
function failureKind(error: unknown): AppendError['kind'] {
  if (error instanceof RangeError || error instanceof TypeError) return 'rejected';
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return 'lost';
  if (error.code === '23505' && 'constraint' in error && FENCE.test(String(error.constraint))) return 'fenced';
  return /^(22|23|54)/.test(error.code) ? 'rejected' : 'lost';
}
