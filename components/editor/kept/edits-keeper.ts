import { hasForgottenEdits } from '../../trpc/session-gate.ts';
import type { EditorStore } from '../editor-store.ts';
import { type EditsInBrowser, newKey } from './kept-edits.ts';
import { holdKey } from './live-keys.ts';

/** The maximum time for which an edit exists only in memory. */
export const KEEP_AFTER_MS = 400;

type KeeperOptions = {
  user: string;
  workflowId: string;
  store: Pick<EditorStore, 'state' | 'base' | 'dirty' | 'subscribe'>;
  /** Returns the fields that do not parse yet. */
  fields: () => [string, string][];
  edits: EditsInBrowser;
  /** Called once if unsaved edits could not be kept. */
  onRefused: () => void;
};

/** Keeps unsaved edits of an editor in the browser, shortly after each edit, and removes them once they are saved. */
export class EditsKeeper {
  readonly #options: KeeperOptions;
  /** The storage key of the edits. */
  readonly key: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #release: (() => void) | null = null;
  #written = '';
  #base: { graph: object; etag: string; text: string } | null = null;
  #last: unknown[] = [];
  #isRefused = false;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.key = newKey(options.user, options.workflowId);
    options.store.subscribe(() => this.changed());
    if (options.fields().length > 0) this.changed();
  }

  /** Schedules keeping the changes. Later edits do not delay it. */
  changed(): void {
    const { store, fields } = this.#options;
    if (store.state.saveState.kind === 'saved' && !store.dirty && fields().length === 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), KEEP_AFTER_MS);
  }

  /** Keeps the changes immediately, such as when the page is left. */
  readonly flush = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The user signed out and removed the edits.
    if (hasForgottenEdits()) return;
    const { store, fields, edits } = this.#options;
    const unread = fields();
    if (!store.dirty && unread.length === 0) {
      this.#forget();
      return;
    }
    const { draft, text, textProblem } = store.state;
    const { base } = store;
    const now = [draft.graph, text, base.etag, JSON.stringify(unread)];
    if (now.every((each, at) => each === this.#last[at])) return;
    this.#last = now;
    this.#release ??= holdKey(this.key);
    const isKept = edits.keep(this.key, {
      base: this.#textOf(base.etag, base.draft.graph),
      graph: draft.graph,
      text: textProblem === null ? null : text,
      fields: unread,
    });
    if (isKept) this.#written = this.key;
    else if (!this.#isRefused && store.state.saveState.kind === 'failed') {
      this.#isRefused = true;
      this.#options.onRefused();
    }
  };

  #textOf(etag: string, graph: object): string {
    if (this.#base?.graph !== graph || this.#base.etag !== etag)
      this.#base = { graph, etag, text: JSON.stringify({ etag, graph }) };
    return this.#base.text;
  }

  #forget(): void {
    this.#last = [];
    this.#release?.();
    this.#release = null;
    if (this.#written === '') return;
    this.#written = '';
    this.#options.edits.forget(this.key);
  }
}
