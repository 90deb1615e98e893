'use client';
import { EditorView, ExternalChange, Prec } from '@uiw/react-codemirror';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ReportedTexts } from '../ui/reported-texts.ts';

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '12px' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--faint)', borderRight: '1px solid var(--line)' },
  '.cm-content': { fontFamily: 'var(--font-mono)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-template': { backgroundColor: 'var(--accent-soft)', color: 'var(--accent-text)', borderRadius: '2px' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)' },
});

/** Takes precedence over the component's own themes, which set their own backgrounds. */
export const editorLook = Prec.highest(theme);

/** Constants, because the component configures its editor again for each new object. */
export const WITH_HISTORY = { history: true, historyKeymap: true };
export const WITHOUT_HISTORY = { history: false, historyKeymap: false };

/**
 * Keeps the text of the editor and the `value` of its owner in sync. CodeMirror's component receives its text only
 * once: if it followed `value`, it would silently restore an older text 200 ms after the last key when the page renders
 * more slowly than the person types.
 */
export function useEditorText(value: string, onChange: ((text: string) => void) | undefined) {
  const [view, setView] = useState<EditorView | null>(null);
  const [initial] = useState(value);
  const [reported] = useState(() => new ReportedTexts());
  const seen = useRef(value);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  // A stable function, because the component configures its editor again for each new one.
  const change = useCallback(
    (text: string) => {
      reported.report(text);
      latest.current?.(text);
    },
    [reported],
  );
  useEffect(() => {
    if (!view || value === seen.current) return;
    seen.current = value;
    if (reported.isReported(value)) return;
    const present = view.state.doc;
    if (present.toString() === value) return;
    view.dispatch({
      changes: { from: 0, to: present.length, insert: value },
      annotations: ExternalChange.of(true),
    });
  }, [value, view, reported]);
  return { value: initial, onChange: change, onCreateEditor: setView };
}

/** Options for prose and expressions, which need no line numbers. The page's own undo covers the editor's text. */
export const PLAIN = {
  history: false,
  historyKeymap: false,
  lineNumbers: false,
  foldGutter: false,
  highlightActiveLine: false,
  autocompletion: false,
  completionKeymap: false,
};
