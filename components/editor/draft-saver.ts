import { Backoff } from './backoff.ts';

export type SaveState =
  | { kind: 'saved' }
  /** Will be saved by itself. */
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  /** Cannot be saved as it is: it does not parse. */
  | { kind: 'invalid'; message: string }
  /** Somebody else saved meanwhile; nothing is overwritten until the two are brought together. */
  | { kind: 'conflict' }
  /** `retryAt`: when it is tried again by itself, in ms since the epoch; null: not until a person changes something or saves. */
  | { kind: 'failed'; error: unknown; retryAt: number | null };

export type SaveOutcome =
  | { kind: 'saved'; etag: string }
  | { kind: 'conflict' }
  /** `retryAfterMs`: the least time until it is tried again; null where that would fail, too. */
  | { kind: 'failed'; error: unknown; retryAfterMs?: number | null | undefined };

export type DraftSaverOptions<T> = {
  value: T;
  etag: string;
  /** Must not throw: failures are outcomes. `etag` is what the change is based on. */
  save: (value: T, etag: string) => Promise<SaveOutcome>;
  /** Why a value cannot be saved, or null. */
  check: (value: T) => string | null;
  /** Whether two values need not be saved one after the other. Default: identity. */
  same?: (a: T, b: T) => boolean;
  onState: (state: SaveState) => void;
  /** Quiet time before an edit is saved, in ms. Default 800. */
  delayMs?: number;
};

/**
 * Saves a draft while it is being edited: one save at a time, each based on the one before, so that two editors never
 * overwrite each other unseen. What was edited during a save is saved by the next one. A save that failed is repeated
 * until it succeeds, unless that cannot help.
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

  /** The value that the server has, as far as this saver knows: what the present one is based on. */
  get saved(): T {
    return this.#saved;
  }

  get etag(): string {
    return this.#etag;
  }

  /** Whether leaving now would lose something. */
  get dirty(): boolean {
    const { same = Object.is } = this.#options;
    return !same(this.#value, this.#saved);
  }

  /** Replaces the value; it is saved when editing pauses. */
  edit(value: T): void {
    this.#value = value;
    const problem = this.dirty ? this.#options.check(value) : null;
    // The next try takes the edit with it.
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

  /** Saves at once what can be saved; resolves when nothing is left to save, or saving is not possible. */
  async flush(): Promise<SaveState> {
    this.#stopTimer();
    // It goes on with what was edited meanwhile.
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
    // Edited meanwhile.
    if (this.dirty) return this.flush();
    return this.#state;
  }

  #afterFailure({ error, retryAfterMs }: SaveOutcome & { kind: 'failed' }): SaveState {
    const retryAt = retryAfterMs === null ? null : this.#backoff.plan(() => void this.flush(), retryAfterMs);
    return { kind: 'failed', error, retryAt };
  }

  /** After a conflict: bases `value` on what the server has now, `stored` with `etag`, and saves it over that. */
  async rebase(value: T, stored: T, etag: string): Promise<SaveState> {
    this.#value = value;
    this.#saved = stored;
    this.#etag = etag;
    this.#set(this.dirty ? { kind: 'unsaved' } : { kind: 'saved' });
    return this.flush();
  }

  /** Takes what is stored, such as a restored version, as the value. */
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

/** Whether a save has failed and is tried again by itself. */
export const isRetried = (state: SaveState): boolean => state.kind === 'failed' && state.retryAt !== null;
