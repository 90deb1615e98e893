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
import type { CompletionData } from './completion-data.ts';
import type { CodeLanguage } from './languages.ts';

/** Reads what the code can name, when it is asked for first. */
export type LoadCompletionData = () => Promise<CompletionData>;

/** Longer than any path; a whole script would be searched at each key. */
const MAX_LOOK_BEHIND = 1_000;

async function complete(
  context: CompletionContext,
  language: CodeLanguage,
  load: LoadCompletionData,
): Promise<CompletionResult | null> {
  const start = Math.max(0, context.pos - MAX_LOOK_BEHIND);
  const typing = typingAt(context.state.sliceDoc(start, context.pos), language);
  if (typing === null) return null;
  const data = await load();
  const found = context.aborted ? null : suggestionsFor(typing, language, data);
  if (found === null) return null;
  return {
    from: start + found.from,
    filter: false,
    options: found.options.map(option => completionOf(option, language)),
  };
}

function completionOf({ label, detail, kind }: Suggestion, language: CodeLanguage): Completion {
  const completion: Completion = { label, type: kind, ...(detail === undefined ? {} : { detail }) };
  if (isPlainName(label, language)) return completion;
  // `input.odd name` → `input["odd name"]`: the dot goes.
  const insert = `[${JSON.stringify(label)}]`;
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
 * Closes the list where it is shown. Otherwise Escape leaves the field, also while suggestions are still being looked for: what a
 * key does must not depend on how fast they come.
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

/** Returns the completion of paths into the input and the results of earlier steps. Enter accepts, Tab leaves the field. */
export function completionExtensions(language: CodeLanguage, load: LoadCompletionData): Extension[] {
  const source = (context: CompletionContext) => complete(context, language, load);
  return [autocompletion({ override: [source], defaultKeymap: false, icons: false }), KEYS, LOOK];
}
