import type { LoadJournal, LoadLane } from '../../log/index.ts';

/** A run is not loaded again after this many processes died while they loaded it. */
export const MAX_LOAD_DEATHS = 3;

/**
 * The runs that earlier processes may have died of while loading them. They are loaded one at a time and after all
 * others, so that the next death shows which run is at fault.
 */
export class LoadSuspects {
  readonly #journal: LoadJournal | undefined;
  #deaths = new Map<string, number>();
  readonly #open = new Set<LoadLane>();
  /** Writes are serialized: otherwise an entry could be closed before it is written. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(journal: LoadJournal | undefined) {
    this.#journal = journal;
  }

  /** Reads what other processes died of. Call this at each take, before any run is loaded in the background. */
  async recall(): Promise<void> {
    if (this.#journal !== undefined) this.#deaths = await this.#journal.deaths(this.#open);
  }

  get isEmpty(): boolean {
    return this.#deaths.size === 0;
  }

  has(runId: string): boolean {
    return this.#deaths.has(runId);
  }

  /** Returns why the run may not be loaded any more, or null. */
  quarantine(runId: string): string | null {
    const deaths = this.#deaths.get(runId) ?? 0;
    return deaths < MAX_LOAD_DEATHS ? null : `The service ended ${deaths} times while it loaded this run.`;
  }

  /** Records which runs are loaded next. */
  loading(lane: LoadLane, runIds: readonly string[]): Promise<void> {
    return this.#write(async journal => {
      if (this.#closed) return;
      this.#open.add(lane);
      await journal.begin(lane, runIds);
    });
  }

  /** Closes the entry: everything is loaded. If that fails, it is closed after the next load. */
  loaded(lane: LoadLane): Promise<void> {
    return this.#write(async journal => {
      if (!this.#open.has(lane)) return;
      await journal.end(lane);
      this.#open.delete(lane);
    }).catch(() => undefined);
  }

  /**
   * Call this when these runs were loaded and the process still lives. A quarantined run stays a
   * suspect until it has ended.
   */
  survived(runIds: readonly string[]): void {
    const [only] = runIds;
    if (runIds.length === 1 && only !== undefined && this.quarantine(only) === null) this.ended(only);
  }

  /** Clears the suspicion: the run has ended, or was loaded safely. */
  ended(runId: string): void {
    if (!this.#deaths.delete(runId)) return;
    // If that fails, the run is still loaded alone.
    this.#write(journal => journal.forget(runId)).catch(() => undefined);
  }

  /** Closes all entries: that this process no longer leads is not a death. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#open].map(lane => this.loaded(lane)));
    await this.#lastWrite;
  }

  #write(act: (journal: LoadJournal) => Promise<void>): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) return Promise.resolve();
    const written = this.#lastWrite.then(() => act(journal));
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }
}
