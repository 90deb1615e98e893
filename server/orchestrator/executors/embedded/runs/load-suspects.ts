import type { LoadJournal, LoadLane } from '../../../log/index.ts';

/** A run that this many processes died of while they loaded it is not loaded again. */
export const MAX_LOAD_DEATHS = 3;

/**
 * The runs that earlier processes may have died of. They are loaded one at a time and after all others, so that a process
 * which dies again names the one at fault.
 */
export class LoadSuspects {
  readonly #journal: LoadJournal | undefined;
  #deaths = new Map<string, number>();
  readonly #open = new Set<LoadLane>();
  /** One write at a time, or an entry could be closed before it is there. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(journal: LoadJournal | undefined) {
    this.#journal = journal;
  }

  /** Reads what earlier processes left behind; before anything is loaded in the background. */
  async recall(): Promise<void> {
    if (this.#journal !== undefined) this.#deaths = await this.#journal.deaths();
  }

  get isEmpty(): boolean {
    return this.#deaths.size === 0;
  }

  has(runId: string): boolean {
    return this.#deaths.has(runId);
  }

  /** Why the run may not be loaded any more, or null. */
  quarantine(runId: string): string | null {
    const deaths = this.#deaths.get(runId) ?? 0;
    return deaths < MAX_LOAD_DEATHS ? null : `The service ended ${deaths} times while it loaded this run.`;
  }

  /** Writes down what is loaded next. */
  loading(lane: LoadLane, runIds: readonly string[]): Promise<void> {
    return this.#write(async journal => {
      if (this.#closed) return;
      this.#open.add(lane);
      await journal.begin(lane, runIds);
    });
  }

  /** Everything is loaded. An entry that cannot be closed now is closed after the next load. */
  loaded(lane: LoadLane): Promise<void> {
    return this.#write(async journal => {
      if (!this.#open.has(lane)) return;
      await journal.end(lane);
      this.#open.delete(lane);
    }).catch(() => undefined);
  }

  /** These runs were loaded and the process lives. A quarantined one stays a suspect until it has ended. */
  survived(runIds: readonly string[]): void {
    const [only] = runIds;
    if (runIds.length === 1 && only !== undefined && this.quarantine(only) === null) this.ended(only);
  }

  /** The run has ended, or has done no harm. */
  ended(runId: string): void {
    if (!this.#deaths.delete(runId)) return;
    // Where that fails, the run stays one that is loaded alone.
    this.#write(journal => journal.forget(runId)).catch(() => undefined);
  }

  /** This process no longer leads, which is not a death. */
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
