import { Backoff } from './backoff.ts';

export type SaveState =
  | { kind: 'saved' }
  /** Will be saved automatically. */
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  /** Cannot be saved, because the value does not parse. */
  | { kind: 'invalid'; message: string }
  /** Someone else saved a newer draft; nothing is overwritten until the two drafts are merged. */
  | { kind: 'conflict' }
  /** `retryAt` is the time of the automatic retry, in ms since the epoch; null if only an edit or a manual save tries again. */
  | { kind: 'failed'; error: unknown; retryAt: number | null };

export type SaveOutcome =
  | { kind: 'saved'; etag: string }
  | { kind: 'conflict' }
  /** `retryAfterMs` is the minimum delay before a retry; null if a retry would fail, too. */
  | { kind: 'failed'; error: unknown; retryAfterMs?: number | null | undefined };

export type DraftSaverOptions<T> = {
  value: T;
  etag: string;
  /** Must not throw: failures are outcomes. `etag` identifies the stored draft that the change is based on. */
  save: (value: T, etag: string) => Promise<SaveOutcome>;
  /** Returns the reason why a value cannot be saved, or null. */
  check: (value: T) => string | null;
  /** Returns whether two values are equal for saving. Default: identity. */
  same?: (a: T, b: T) => boolean;
  onState: (state: SaveState) => void;
  /** The pause after an edit before it is saved, in ms. Default: 800. */
  delayMs?: number;
};

/**
 * Saves a draft while it is being edited. It sends one save at a time, each based on the previous one, so that two editors never overwrite
 * each other unnoticed. Edits made during a save are part of the next save. A failed save is repeated until it succeeds, unless a retry
 * cannot succeed.
 */
export class DraftSaver<T> {
  readonly #options: DraftSaverOptions<T>;
  #value: T;
  #saved: T;
  #etag: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #backoff = new Backoff();
  #underWay: Promise<SaveState> | null = null;
  #state: SaveState = { kind: 'saved' };

  constructor(options: DraftSaverOptions<T>) {
    this.#options = options;
    this.#value = options.value;
    this.#saved = options.value;
    this.#etag = options.etag;
  }

  get state(): SaveState {
    return this.#state;
  }

  /** The value that was last read from or saved to the server. The present value is based on it. */
  get saved(): T {
    return this.#saved;
  }

  get etag(): string {
    return this.#etag;
  }

  /** Whether leaving the page now would lose edits. */
  get dirty(): boolean {
    const { same = Object.is } = this.#options;
    return !same(this.#value, this.#saved);
  }

  /** Replaces the value, which is saved when editing pauses. */
  edit(value: T): void {
    this.#value = value;
    const problem = this.dirty ? this.#options.check(value) : null;
    // The scheduled retry includes this edit.
    if (this.dirty && problem === null && isRetried(this.#state)) return;
    this.#stopTimer();
    if (this.#state.kind === 'conflict') return;
    if (!this.dirty) this.#set(this.#underWay !== null ? { kind: 'saving' } : { kind: 'saved' });
    else if (problem !== null) this.#set({ kind: 'invalid', message: problem });
    else {
      this.#set({ kind: 'unsaved' });
      this.#timer = setTimeout(() => void this.flush(), this.#options.delayMs ?? 800);
    }
  }

  /** Saves immediately if possible. Resolves when nothing is left to save, or saving is not possible. */
  async flush(): Promise<SaveState> {
    this.#stopTimer();
    // The save that is in progress continues with the edits made during it.
    if (this.#underWay !== null) return this.#underWay;
    if (this.#state.kind === 'conflict' || !this.dirty) return this.#state;
    const problem = this.#options.check(this.#value);
    if (problem !== null) {
      this.#set({ kind: 'invalid', message: problem });
      return this.#state;
    }
    this.#underWay = this.#save(this.#value);
    return this.#underWay;
  }

  async #save(value: T): Promise<SaveState> {
    this.#set({ kind: 'saving' });
    const outcome = await this.#options.save(value, this.#etag);
    this.#underWay = null;
    if (outcome.kind !== 'saved') {
      this.#set(outcome.kind === 'failed' ? this.#afterFailure(outcome) : outcome);
      return this.#state;
    }
    this.#backoff.reset();
    this.#etag = outcome.etag;
    this.#saved = value;
    this.#set({ kind: 'saved' });
    // Edits were made during the save.
    if (this.dirty) return this.flush();
    return this.#state;
  }

  #afterFailure({ error, retryAfterMs }: SaveOutcome & { kind: 'failed' }): SaveState {
    const retryAt = retryAfterMs === null ? null : this.#backoff.plan(() => void this.flush(), retryAfterMs);
    return { kind: 'failed', error, retryAt };
  }

  /** Resolves a conflict: bases `value` on `stored`, the server's draft with this `etag`, and saves `value` over it. */
  async rebase(value: T, stored: T, etag: string): Promise<SaveState> {
    this.#value = value;
    this.#saved = stored;
    this.#etag = etag;
    this.#set(this.dirty ? { kind: 'unsaved' } : { kind: 'saved' });
    return this.flush();
  }

  /** Replaces the value with a stored one, such as a restored version. */
  reset(value: T, etag: string): void {
    this.#stopTimer();
    this.#value = value;
    this.#saved = value;
    this.#etag = etag;
    this.#set({ kind: 'saved' });
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#backoff.stop();
  }

  #set(state: SaveState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}

/** Returns whether a save has failed and is retried automatically. */
export const isRetried = (state: SaveState): boolean => state.kind === 'failed' && state.retryAt !== null;
