export type SaveState =
  | { kind: 'saved' }
  /** Will be saved by itself. */
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  /** Cannot be saved as it is: it does not parse. */
  | { kind: 'invalid'; message: string }
  /** Somebody else saved meanwhile; nothing is overwritten until the user decides. */
  | { kind: 'conflict' }
  | { kind: 'failed'; error: unknown };

export type SaveOutcome = { kind: 'saved'; etag: string } | { kind: 'conflict' } | { kind: 'failed'; error: unknown };

export type DraftSaverOptions = {
  text: string;
  etag: string;
  /** Must not throw: failures are outcomes. `etag` is what the change is based on. */
  save: (text: string, etag: string) => Promise<SaveOutcome>;
  /** Why a text cannot be saved, or null. */
  check: (text: string) => string | null;
  onState: (state: SaveState) => void;
  /** Quiet time before an edit is saved, in ms. Default 800. */
  delayMs?: number;
};

/**
 * Saves a draft while it is being typed: one save at a time, each based on the one before, so that two editors never
 * overwrite each other unseen. What was typed during a save is saved by the next one.
 */
export class DraftSaver {
  readonly #options: DraftSaverOptions;
  #text: string;
  #savedText: string;
  #etag: string;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #underWay: Promise<SaveState> | null = null;
  #state: SaveState = { kind: 'saved' };

  constructor(options: DraftSaverOptions) {
    this.#options = options;
    this.#text = options.text;
    this.#savedText = options.text;
    this.#etag = options.etag;
  }

  get state(): SaveState {
    return this.#state;
  }

  /** Whether leaving now would lose something. */
  get dirty(): boolean {
    return this.#text !== this.#savedText;
  }

  /** The text is now this one; it is saved when typing pauses. */
  edit(text: string): void {
    this.#text = text;
    this.#stopTimer();
    if (this.#state.kind === 'conflict') return;
    const problem = this.dirty ? this.#options.check(text) : null;
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
    // It goes on with what was typed meanwhile.
    if (this.#underWay !== null) return this.#underWay;
    if (this.#state.kind === 'conflict' || !this.dirty) return this.#state;
    const problem = this.#options.check(this.#text);
    if (problem !== null) {
      this.#set({ kind: 'invalid', message: problem });
      return this.#state;
    }
    this.#underWay = this.#save(this.#text);
    return this.#underWay;
  }

  async #save(text: string): Promise<SaveState> {
    this.#set({ kind: 'saving' });
    const outcome = await this.#options.save(text, this.#etag);
    this.#underWay = null;
    if (outcome.kind !== 'saved') {
      this.#set(outcome);
      return this.#state;
    }
    this.#etag = outcome.etag;
    this.#savedText = text;
    this.#set({ kind: 'saved' });
    // Typed meanwhile.
    if (this.dirty) return this.flush();
    return this.#state;
  }

  /** After a conflict: bases the text on what is stored now, and saves it over that. */
  async overwrite(etag: string): Promise<SaveState> {
    this.#etag = etag;
    this.#set({ kind: 'unsaved' });
    return this.flush();
  }

  /** Takes what is stored (after a conflict, or a restored version) as the text. */
  reset(text: string, etag: string): void {
    this.#stopTimer();
    this.#text = text;
    this.#savedText = text;
    this.#etag = etag;
    this.#set({ kind: 'saved' });
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #set(state: SaveState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}
