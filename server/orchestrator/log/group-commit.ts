import { type OrchestratorObserver, unobserved } from '../ports/observer.ts';
import { CommitQueue, DEFAULT_LIMITS, type Waiting, type WriterLimits } from './commit-queue.ts';
import { entryBytes, type LogEntry } from './entry.ts';

/**
 * The target of batches. When `commit` resolves, the whole batch is on disk. When it rejects because the database refused a
 * value, no part of the batch is written. After any other rejection, the batch may or may not be written.
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

/**
 * Batches in flight at once: the next one reaches the database before the previous one is answered, so that the
 * database waits neither for the runs nor for the network. Two batches never contain the same run (LogEntry), so they
 * do not depend on each other.
 */
export const MAX_BATCHES = 2;

/**
 * Group commit (docs/adr/0008-what-a-commit-writes.md): entries that arrive while a batch is in flight are written
 * together by the next one, which is sent as soon as it is worth a separate commit or nothing is in flight. An entry
 * is written immediately if nothing is in flight; no timer is involved. `append` settles after the commit. The tenants
 * whose entries wait take turns (CommitQueue).
 */
export class GroupCommitLog {
  readonly #session: LogSession;
  readonly #limits: WriterLimits;
  readonly #queue: CommitQueue;
  #underWay = 0;
  #sending = false;
  /** When the database last answered, by performance.now(). */
  #answeredAt = 0;
  #lost: AppendError | null = null;
  #whenIdle: (() => void)[] = [];
  readonly #onLost: (cause: unknown) => void;
  readonly #observer: OrchestratorObserver;

  /** `onLost` is called once, when a write failed for a reason other than the entries themselves. */
  constructor(
    session: LogSession,
    onLost: (cause: unknown) => void,
    limits: WriterLimits = DEFAULT_LIMITS,
    observer: OrchestratorObserver = unobserved,
  ) {
    this.#session = session;
    this.#onLost = onLost;
    this.#limits = limits;
    this.#queue = new CommitQueue(limits);
    this.#observer = observer;
  }

  /**
   * Whether the tenant has a share of the backlog left. If not, the caller must append nothing for it; the log does not
   * refuse the entry.
   */
  hasRoom(tenantId: string): boolean {
    return this.#queue.hasRoom(tenantId);
  }

  /** Calls `listener` once, as soon as the tenant has a share left. */
  onRoom(tenantId: string, listener: () => void): void {
    this.#queue.onRoom(tenantId, listener);
  }

  /** Whether more than one tenant has written lately. */
  get isShared(): boolean {
    return this.#queue.isShared;
  }

  /** Rows queued and in flight. */
  get backlogRows(): number {
    return this.#queue.rows;
  }

  /** Bytes queued and in flight. */
  get backlogBytes(): number {
    return this.#queue.bytes;
  }

  /** Settles after the commit. Rejects with AppendError. */
  append(entry: LogEntry): Promise<void> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    const bytes = entryBytes(entry);
    return new Promise((resolve, reject) => {
      this.#queue.add({ entry, bytes, resolve, reject });
      if (this.#sending) return;
      this.#sending = true;
      // A microtask later, so that entries appended in the same tick share the commit.
      queueMicrotask(() => {
        this.#sending = false;
        this.#sendQueued();
        this.#notifyIdle();
      });
    });
  }

  /** Settles when everything appended so far is committed or refused. */
  drain(): Promise<void> {
    if (this.#idle) return Promise.resolve();
    return new Promise(resolve => this.#whenIdle.push(resolve));
  }

  /** Refuses all queued and all later entries: the connection is lost. */
  abandon(cause: unknown): void {
    if (this.#lost !== null) return;
    this.#lost = new AppendError('lost', cause);
    for (const waiting of this.#queue.takeAll()) this.#refuse(waiting, this.#lost);
  }

  get #idle(): boolean {
    return this.#underWay === 0 && this.#queue.size === 0;
  }

  #sendQueued(): void {
    while (this.#queue.size > 0 && this.#underWay < MAX_BATCHES) {
      if (this.#underWay > 0 && this.#queue.size < this.#limits.worthEntries) break;
      void this.#write(this.#takeBatch());
    }
  }

  #notifyIdle(): void {
    if (this.#idle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #write(batch: Waiting[]): Promise<void> {
    this.#underWay += 1;
    const error = await this.#send(batch);
    if (error !== null) await this.#refused(batch, error);
    this.#underWay -= 1;
    // Sent before the callers of this batch react: the database works while their runs decide.
    this.#sendQueued();
    if (error === null) this.#settle(batch);
    this.#queue.notify();
    this.#notifyIdle();
  }

  /**
   * Takes the queued entries, or half of them if no batch is in flight and the queue is worth two batches:
   * the database then writes one half while the runs of the other decide. Otherwise the two would take turns,
   * each waiting for the other.
   */
  #takeBatch(): Waiting[] {
    const halved = this.#underWay === 0 && this.#queue.size >= 2 * this.#limits.worthEntries;
    return this.#queue.take(halved ? this.#queue.size >> 1 : this.#queue.size);
  }

  /** Commits a batch once. Returns null, or the error. */
  async #send(batch: readonly Waiting[]): Promise<unknown> {
    try {
      const sentAt = performance.now();
      await this.#session.commit(inOrder(batch));
      // The database began a batch that was sent behind another one when it had answered that one.
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
      this.#queue.settled(waiting);
      waiting.resolve();
    }
  }

  /** Writes a part of a batch that was refused. */
  async #writePart(batch: Waiting[]): Promise<void> {
    // The session was lost during the other half of the batch.
    if (this.#lost !== null) return this.#loseBatch(batch, this.#lost.cause);
    const error = await this.#send(batch);
    if (error !== null) await this.#refused(batch, error);
    else this.#settle(batch);
  }

  /**
   * Halves a batch that the database refuses until the bad entry is alone in its batch and fails. An entry that is alone
   * when it falls victim to another session is written again.
   */
  async #refused(batch: Waiting[], refusal: unknown): Promise<void> {
    let error = isMisrouted(refusal) ? await this.#send(batch) : refusal;
    for (let tries = 0; batch.length === 1 && isVictim(error) && tries < MAX_VICTIM_TRIES; tries++)
      error = await this.#send(batch);
    if (error === null) return this.#settle(batch);
    const kind = batch.length > 1 && isVictim(error) ? 'rejected' : failureKind(error);
    if (kind === 'lost') this.#loseBatch(batch, error);
    else if (batch.length === 1) for (const waiting of batch) this.#refuse(waiting, new AppendError(kind, error));
    else {
      this.#observer.batchBisected();
      const half = batch.length >> 1;
      await this.#writePart(batch.slice(0, half));
      await this.#writePart(batch.slice(half));
    }
  }

  #loseBatch(batch: Waiting[], cause: unknown): void {
    const first = this.#lost === null;
    this.abandon(cause);
    for (const waiting of batch) this.#refuse(waiting, this.#lost ?? new AppendError('lost', cause));
    if (first) this.#onLost(cause);
  }

  #refuse(waiting: Waiting, error: AppendError): void {
    this.#queue.settled(waiting);
    this.#observer.appendRefused(error.kind);
    waiting.reject(error);
  }
}

/**
 * The order in which a batch is written: by run id, because ids are chosen by clients and unique in the deployment. Two
 * sessions that insert the same ids in opposite orders would wait for each other until the database refuses one of them.
 * The callers learn of the commit in the order in which they appended.
 */
function inOrder(batch: readonly Waiting[]): LogEntry[] {
  const entries = batch.map(({ entry }) => entry);
  return entries.length === 1 ? entries : entries.sort((a, b) => (a.runId < b.runId ? -1 : 1));
}

/** A single entry holds nothing that another session waits for, so the first repetition already finds the way free. */
const MAX_VICTIM_TRIES = 8;

/** Returns whether the database refused a statement for the sake of another one: class 40, such as deadlocks. */
const isVictim = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('40');

/** The primary keys of `runs` and of `run_events`; a violation has the name of the partition's own key. */
const FENCE = /^(?:runs|run_events(?:_\w+)?)_pkey$/;

/**
 * Returns whether a row went to the DEFAULT partition while its own partition was created: the next attempt writes it
 * there. Only declared constraints have a name.
 */
const isMisrouted = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23514' && !('constraint' in error && error.constraint);

/**
 * SQLSTATE classes 22 (data), 23 (constraints) and 54 (limits, such as nesting too deep) are faults of the entry, and
 * so is an error of the driver while it serializes values. Everything else is not, including a full disk, class 42 (a
 * missing column or privilege) and 55P03 (a lock was not available). `rejected` would permanently fail the steps and runs
 * of every tenant for a problem that an operator can repair. With `lost` the leader steps down, retries with increasing
 * delays and names the SQLSTATE in /readyz, and every run continues afterwards.
 */
function failureKind(error: unknown): AppendError['kind'] {
  if (error instanceof RangeError || error instanceof TypeError) return 'rejected';
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return 'lost';
  if (error.code === '23505' && 'constraint' in error && FENCE.test(String(error.constraint))) return 'fenced';
  return /^(22|23|54)/.test(error.code) ? 'rejected' : 'lost';
}
