import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionKeymap,
  completionStatus,
} from '@codemirror/autocomplete';
import { EditorView, type Extension, keymap, Prec } from '@uiw/react-codemirror';
import { isPlainName, type Suggestion, suggestionsFor, typingAt } from './complete-path.ts';
import type { CompletionData } from './example-values.ts';
import { placeInSteps, withoutEscapes } from './json-place.ts';
import type { CodeLanguage } from './languages.ts';

/** The source of the names that an editor completes. */
export type CompletionSource = {
  /** Reads the data that the code can read. `within`: the ids of the steps around the cursor in the JSON of a loop's steps. */
  load: (within: readonly string[]) => Promise<CompletionData>;
  /** Whether the editor holds the steps of a loop as JSON. */
  isLoop: boolean;
};

/** More than the length of any path. Without this limit, each key press would search the whole script. */
const MAX_LOOK_BEHIND = 1_000;

async function complete(
  context: CompletionContext,
  editor: CodeLanguage,
  { load, isLoop }: CompletionSource,
): Promise<CompletionResult | null> {
  const { state, pos } = context;
  const place = isLoop ? placeInSteps(state.doc.toString(), pos) : null;
  const language = place?.code?.language ?? editor;
  const start = Math.max(place?.code?.from ?? 0, pos - MAX_LOOK_BEHIND);
  const text = state.sliceDoc(start, pos);
  const typing = typingAt(place?.code ? withoutEscapes(text) : text, language);
  if (typing === null) return null;
  const data = await load(place?.ids ?? []);
  const found = context.aborted ? null : suggestionsFor(typing, language, data);
  if (found === null) return null;
  return {
    from: start + found.from,
    filter: false,
    options: found.options.map(option => completionOf(option, { language, isJson: editor === 'json' })),
  };
}

type Target = { language: CodeLanguage; isJson: boolean };

function completionOf({ label, detail, kind }: Suggestion, { language, isJson }: Target): Completion {
  const completion: Completion = { label, type: kind, ...(detail === undefined ? {} : { detail }) };
  if (isPlainName(label, language)) return completion;
  // `input.odd name` → `input["odd name"]`: the dot is removed. In JSON, the quotes are inside a string and are escaped.
  const quoted = JSON.stringify(label);
  const insert = `[${isJson ? JSON.stringify(quoted).slice(1, -1) : quoted}]`;
  return {
    ...completion,
    apply: (view, _completion, from, to) =>
      view.dispatch({
        changes: { from: from - 1, to, insert },
        selection: { anchor: from - 1 + insert.length },
        userEvent: 'input.complete',
      }),
  };
}

/**
 * Closes an open completion list; otherwise Escape leaves the field, also while suggestions are loading: the effect of a key must not
 * depend on how fast suggestions load.
 */
function closeOrLeave(view: EditorView): boolean {
  const isShown = completionStatus(view.state) === 'active';
  closeCompletion(view);
  return isShown;
}

const KEYS = Prec.highest(
  keymap.of([{ key: 'Escape', run: closeOrLeave }, ...completionKeymap.filter(({ key }) => key !== 'Escape')]),
);

const LOOK = EditorView.theme({
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '200px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--muted)' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
});

/** Returns the completion of paths into the input and the results of earlier steps. Enter accepts a suggestion, Tab leaves the field. */
export function completionExtensions(language: CodeLanguage, from: CompletionSource): Extension[] {
  const source = (context: CompletionContext) => complete(context, language, from);
  return [autocompletion({ override: [source], defaultKeymap: false, icons: false }), KEYS, LOOK];
}
