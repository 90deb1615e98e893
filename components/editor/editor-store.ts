import {
  apply,
  type Choose,
  type Conflict,
  type Draft,
  type Edit,
  identicalJson,
  merge,
  sameDraft,
  type Unrewritten,
} from '../../server/domains/workflows/edits/index.ts';
import { restoreOf } from '../../server/domains/workflows/edits/restore.ts';
import { Backoff } from './backoff.ts';
import { DraftSaver, isRetried, type SaveOutcome, type SaveState } from './draft-saver.ts';
import { hasDuplicateIds, parseGraph, shareUnchanged } from './graph-text.ts';
import { retryAfterMs } from './save-failure.ts';

export type EditorState = {
  readonly draft: Draft;
  /** The JSON as the user typed it; null if it is the formatted draft. */
  readonly text: string | null;
  /** The reason why the text is not a graph. The draft then comes from the last text that was a graph. */
  readonly textProblem: string | null;
  readonly canUndo: boolean;
  readonly canRedo: boolean;
  readonly saveState: SaveState;
  /** The conflicts between the edits of this editor and changes saved elsewhere; empty unless the user has to decide. */
  readonly conflicts: readonly Conflict[];
  /** The people who saved the other side of the conflicts; empty if unknown. */
  readonly savedBy: readonly Person[];
};

/** A member of the workspace. */
export type Person = { id: string; name: string };

/** The draft on the server, and its ETag. */
export type Stored = { draft: Draft; etag: string };

export type StoreOptions = Stored & {
  /** Must not throw: failures are outcomes. */
  save: (draft: Draft, etag: string) => Promise<SaveOutcome>;
  /** Reads the stored draft. Throws if the server cannot be read. */
  read: () => Promise<Stored>;
  /** Returns the people who have saved the draft since the state with this ETag. Must not throw: returns no names on a failure. */
  readSavers?: (since: string) => Promise<readonly Person[]>;
  delayMs?: number;
  /** Returns milliseconds since an arbitrary start. Used to group typing. */
  now?: () => number;
};

export type ChangeResult = { ok: true; unrewritten: readonly Unrewritten[] } | { ok: false; message: string };

/** One step of the history: how to return from the present draft to the one before. */
type Entry = {
  back: Edit | { type: 'replace'; draft: Draft };
  text: string | null;
  /** Successive changes with the same key within `GROUP_MS` are one step. */
  key: string | null;
  at: number;
  before: Draft;
};
type Work = Pick<EditorState, 'draft' | 'textProblem'>;

/** Successive keys in a name undo together if each follows within this time. */
const GROUP_MS = 1_000;
const MAX_ENTRIES = 500;
/** JSON above this length is parsed after a pause in typing: in a graph of 1,000 steps, parsing at each key took 52 ms of CPU. */
const LARGE_TEXT = 50_000;
const PAUSE_MS = 150;

const noConflicts: readonly Conflict[] = [];
const noPeople: readonly Person[] = [];

/**
 * The draft of a workflow while it is edited. Canvas, inspector and JSON share its history. It saves automatically and merges with changes
 * that others save. Only the shape of the JSON is checked here; the server checks everything else.
 */
export class EditorStore {
  readonly #options: StoreOptions;
  readonly #saver: DraftSaver<Work>;
  readonly #listeners = new Set<() => void>();
  readonly #past: Entry[] = [];
  readonly #future: Entry[] = [];
  #state: EditorState;
  #merging: Promise<SaveState> | null = null;
  readonly #backoff = new Backoff();
  /** Large typed JSON that is not parsed yet. */
  #typed: { text: string; timer: ReturnType<typeof setTimeout> } | null = null;

  constructor(options: StoreOptions) {
    this.#options = options;
    const { draft, etag, delayMs } = options;
    this.#state = {
      draft,
      text: null,
      textProblem: null,
      canUndo: false,
      canRedo: false,
      saveState: { kind: 'saved' },
      conflicts: noConflicts,
      savedBy: noPeople,
    };
    this.#saver = new DraftSaver<Work>({
      value: { draft, textProblem: null },
      etag,
      save: (work, tag) => options.save(work.draft, tag),
      check: work => work.textProblem,
      same: (a, b) => a.textProblem === b.textProblem && isSameSaved(a.draft, b.draft),
      onState: save => this.#onSaveState(save),
      ...(delayMs === undefined ? {} : { delayMs }),
    });
  }

  get state(): EditorState {
    return this.#state;
  }

  /** Whether leaving the page now would lose edits. */
  get dirty(): boolean {
    return this.#typed !== null || this.#saver.dirty;
  }

  /** The stored draft that the present draft is based on, and its ETag. */
  get base(): Stored {
    return { draft: this.#saver.saved.draft, etag: this.#saver.etag };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Applies all edits or none, as one step of the history. Successive edits with the same `key` are one step. */
  change(edits: readonly Edit[], key: string | null = null): ChangeResult {
    this.#readTyped();
    if (this.#state.textProblem !== null) {
      return { ok: false, message: 'The JSON is unfinished. Finish it or discard it first.' };
    }
    let { draft } = this.#state;
    const unrewritten: Unrewritten[] = [];
    let inverse: Edit | null = null;
    for (const edit of edits) {
      const result = apply(draft, edit);
      if (!result.ok) return { ok: false, message: result.problem.message };
      draft = result.draft;
      // A rename needs its own inverse: a comparison by ids would see a removed and an added step.
      inverse = edits.length === 1 ? result.inverse : null;
      unrewritten.push(...result.unrewritten);
    }
    this.#move(draft, { text: null, textProblem: null }, key, inverse);
    return { ok: true, unrewritten };
  }

  /** Takes a text as the JSON of the graph, large texts after a pause. Text that does not parse is kept, but not saved. */
  typeText(text: string): void {
    clearTimeout(this.#typed?.timer);
    const isLarge = text.length >= LARGE_TEXT;
    this.#typed = isLarge ? { text, timer: setTimeout(() => this.#readTyped(), PAUSE_MS) } : null;
    if (!isLarge) this.#takeText(text);
  }

  #readTyped(): void {
    if (this.#typed === null) return;
    const { text, timer } = this.#typed;
    clearTimeout(timer);
    this.#typed = null;
    this.#takeText(text);
  }

  #takeText(text: string): void {
    const { draft } = this.#state;
    const parsed = parseGraph(text);
    if ('problem' in parsed) this.#move(draft, { text, textProblem: parsed.problem }, 'text', null);
    else {
      const graph = shareUnchanged(draft.graph, parsed.graph);
      this.#move(graph === draft.graph ? draft : { ...draft, graph }, { text, textProblem: null }, 'text', null);
    }
  }

  /** Resets the JSON to the last text that was a graph. */
  discardText(): void {
    this.#readTyped();
    this.#move(this.#state.draft, { text: null, textProblem: null }, null, null);
  }

  /** Undoes the last change. Returns the reason if that is not possible, such as a step whose old id is used by another step now. */
  undo(): string | null {
    this.#readTyped();
    return this.#travel(this.#past, this.#future);
  }

  redo(): string | null {
    this.#readTyped();
    return this.#travel(this.#future, this.#past);
  }

  /** Saves immediately and merges with changes of others. Resolves when nothing is left to save, or saving is not possible. */
  async save(): Promise<SaveState> {
    this.#readTyped();
    this.#backoff.stop();
    const state = await this.#saver.flush();
    if (state.kind !== 'conflict' || this.#state.textProblem !== null) return this.#state.saveState;
    this.#mergeUnlessAsking();
    return (await this.#merging) ?? this.#state.saveState;
  }

  /** Retries a failed save immediately, such as when the browser is online again. */
  retry(): void {
    if (isRetried(this.#state.saveState)) void this.save();
  }

  /**
   * Applies never-saved changes, such as from before a crash, as one step of the history. The changes were made to `base`; `text` is
   * unfinished JSON typed over them. If others have changed the same parts since, saving asks which side to keep.
   */
  async restore(base: Stored, draft: Draft, text: string | null): Promise<ChangeResult> {
    this.#readTyped();
    const refused = { ok: false, message: 'Finish or save the changes on this page first.' } as const;
    if (this.#state.textProblem !== null) return refused;
    const result = merge(base.draft, draft, this.#state.draft);
    if (result.ok && text === null) this.#move(result.draft, { text: null, textProblem: null }, null, null);
    else {
      // For changes to an older state, the edits of this page are saved first and then merged like those of another person.
      if ((await this.save()).kind !== 'saved') return refused;
      const parsed = text === null ? null : parseGraph(text);
      const textProblem = parsed !== null && 'problem' in parsed ? parsed.problem : null;
      this.#move(draft, { text, textProblem }, null, null);
      void this.#saver.rebase({ draft, textProblem }, { draft: base.draft, textProblem: null }, base.etag);
    }
    return { ok: true, unrewritten: [] };
  }

  /** Takes a draft that the server just returned, such as a restored version. Undo returns to the draft before. */
  take({ draft, etag }: Stored): void {
    this.#readTyped();
    this.#move(draft, { text: null, textProblem: null }, null, null);
    this.#saver.reset({ draft: this.#state.draft, textProblem: null }, etag);
    this.#set({ conflicts: noConflicts });
  }

  /**
   * Shows changes that others have saved, if nothing here waits to be saved; otherwise the next save merges the two. Does nothing if the
   * server cannot be read.
   */
  async pull(): Promise<void> {
    const { etag } = this.base;
    const isIdle = () => !this.dirty && this.#saver.state.kind === 'saved' && this.base.etag === etag;
    if (!isIdle()) return;
    const stored = await this.#options.read().catch(() => null);
    if (stored === null || stored.etag === etag || !isIdle()) return;
    this.#forgetTexts();
    this.#set({ draft: stored.draft, text: null, textProblem: null });
    this.#saver.reset({ draft: stored.draft, textProblem: null }, stored.etag);
  }

  /** Resolves the conflicts with the side that `choose` returns for each. */
  async resolve(choose: Choose): Promise<SaveState> {
    this.#merging = this.#merge(choose).finally(() => {
      this.#merging = null;
    });
    return this.#merging;
  }

  #move(draft: Draft, text: Pick<EditorState, 'text' | 'textProblem'>, key: string | null, inverse: Edit | null): void {
    const before = this.#state;
    if (draft === before.draft && text.text === before.text) return;
    const at = this.#options.now?.() ?? performance.now();
    const last = this.#past.at(-1);
    if (key !== null && last?.key === key && at - last.at < GROUP_MS) {
      last.back = reversingEdit(last.before, draft);
      last.at = at;
    } else {
      const back = inverse ?? reversingEdit(before.draft, draft);
      this.#past.push({ back, text: before.text, key, at, before: before.draft });
      if (this.#past.length > MAX_ENTRIES) this.#past.shift();
    }
    this.#future.length = 0;
    this.#show(draft, text);
  }

  #travel(from: Entry[], to: Entry[]): string | null {
    const entry = from.at(-1);
    if (entry === undefined) return null;
    const { draft: present, text } = this.#state;
    let after = present;
    let back: Entry['back'] = { type: 'replace', draft: present };
    if (entry.back.type === 'replace') after = entry.back.draft;
    else {
      const result = apply(present, entry.back);
      // The entry stays in the history: undo works again once the obstacle is removed.
      if (!result.ok) return result.problem.message;
      ({ draft: after, inverse: back } = result);
    }
    from.pop();
    const isNothing = sameDraft(present, after) && identicalJson(present.graph, after.graph) && entry.text === text;
    to.push({ back, text, key: null, at: 0, before: present });
    // The typed text is shown again only if it still represents the draft.
    const parsed = entry.text === null ? null : parseGraph(entry.text);
    const keeps = parsed !== null && ('problem' in parsed || identicalJson(parsed.graph, after.graph));
    const problem = parsed !== null && 'problem' in parsed ? parsed.problem : null;
    this.#show(after, { text: keeps ? entry.text : null, textProblem: problem });
    return isNothing ? 'There is nothing left to undo.' : null;
  }

  #show(draft: Draft, text: Pick<EditorState, 'text' | 'textProblem'>): void {
    this.#set({ draft, ...text, canUndo: this.#past.length > 0, canRedo: this.#future.length > 0 });
    this.#saver.edit({ draft, textProblem: text.textProblem });
    if (this.#saver.state.kind === 'conflict' && !isRetried(this.#state.saveState)) this.#mergeUnlessAsking();
  }

  #onSaveState(save: SaveState): void {
    if (save.kind === 'conflict') this.#mergeUnlessAsking();
    else this.#set({ saveState: save });
  }

  /** Starts a merge, unless a merge is in progress, the user has to decide, or unfinished JSON would later overwrite the merged changes. */
  #mergeUnlessAsking(): void {
    const { textProblem, conflicts } = this.#state;
    if (textProblem !== null) this.#set({ saveState: { kind: 'invalid', message: textProblem } });
    else if (this.#merging === null && conflicts.length === 0) {
      this.#set({ saveState: { kind: 'saving' } });
      this.#merging = this.#merge().finally(() => {
        this.#merging = null;
      });
    }
  }

  /** Merges changes that others saved with the local edits since the last save. Asks if both sides changed the same part. */
  async #merge(choose?: Choose): Promise<SaveState> {
    let stored: Stored;
    let savedBy = noPeople;
    try {
      stored = await this.#options.read();
      savedBy = (await this.#options.readSavers?.(this.#saver.etag)) ?? noPeople;
    } catch (error) {
      const afterMs = retryAfterMs(error);
      const retryAt = afterMs === null ? null : this.#backoff.plan(() => void this.save(), afterMs);
      const save: SaveState = { kind: 'failed', error, retryAt };
      this.#set({ saveState: save });
      return save;
    }
    this.#backoff.reset();
    this.#readTyped();
    const { draft, textProblem } = this.#state;
    if (textProblem !== null) {
      // The user typed unfinished JSON during the request. The merge runs once the JSON parses.
      const save: SaveState = { kind: 'invalid', message: textProblem };
      this.#set({ saveState: save });
      return save;
    }
    const result = merge(this.#saver.saved.draft, draft, stored.draft, choose);
    if (!result.ok) {
      const save: SaveState = { kind: 'conflict' };
      this.#set({ saveState: save, conflicts: result.conflicts, savedBy });
      return save;
    }
    this.#forgetTexts();
    this.#set({ draft: result.draft, text: null, textProblem: null, conflicts: noConflicts });
    const value = { draft: result.draft, textProblem: null };
    return this.#saver.rebase(value, { draft: stored.draft, textProblem: null }, stored.etag);
  }

  /** Removes typed texts and whole drafts from the history after a merge: they lack the merged changes of others. */
  #forgetTexts(): void {
    for (const stack of [this.#past, this.#future]) {
      const whole = stack.findLastIndex(entry => entry.back.type === 'replace');
      stack.splice(0, whole + 1);
      for (const entry of stack) {
        entry.text = null;
        entry.key = null;
      }
    }
    this.#set({ canUndo: this.#past.length > 0, canRedo: this.#future.length > 0 });
  }

  #set(change: Partial<EditorState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the edit that reverts `after` to `before`. If two steps share an id, the edit replaces the whole draft. */
function reversingEdit(before: Draft, after: Draft): Entry['back'] {
  return hasDuplicateIds(before.graph) || hasDuplicateIds(after.graph)
    ? { type: 'replace', draft: before }
    : restoreOf(before, after);
}

/** Returns whether two drafts are stored identically. The server keeps the order of keys, which the input forms show. */
const isSameSaved = (a: Draft, b: Draft): boolean =>
  a.name === b.name &&
  a.description === b.description &&
  identicalJson(a.graph, b.graph) &&
  identicalJson(a.run_setup, b.run_setup);
