'use client';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import CodeMirror, { EditorView, ExternalChange, Prec, type ReactCodeMirrorRef } from '@uiw/react-codemirror';
import { useTheme } from 'next-themes';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Echoes } from './echoes.ts';
import { type GraphProblem, locateProblem } from './locate-problem.ts';

export type JsonEditorHandle = { jumpTo: (problem: Pick<GraphProblem, 'step_id' | 'path'>) => void };

type Props = {
  value: string;
  onChange?: (text: string) => void;
  label: string;
  readOnly?: boolean;
  /** Shown in place, in the text. */
  problems?: readonly (GraphProblem & { severity: 'error' | 'warning' })[];
  handle?: RefObject<JsonEditorHandle | null>;
  height?: string;
  /** False: the page undoes and redoes what is typed, together with what is done elsewhere on it. */
  ownHistory?: boolean;
};

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '12px' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--faint)', borderRight: '1px solid var(--line)' },
  '.cm-content': { fontFamily: 'var(--font-mono)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)' },
});

/** Objects that stay the same: the component configures its editor again for each new one. */
const WITH_HISTORY = { history: true, historyKeymap: true };
const WITHOUT_HISTORY = { history: false, historyKeymap: false };

const parseLinter = linter(jsonParseLinter(), { delay: 300 });

/** Before the themes that the component brings, which have backgrounds of their own. */
const look = Prec.highest(theme);

/**
 * The text of the editor and of whoever holds it. CodeMirror's component is given its text once: left to follow `value`, it puts back an
 * older one 200 ms after the last key where the page renders more slowly than somebody types, and says nothing of it.
 */
function useText(value: string, onChange: ((text: string) => void) | undefined) {
  const [view, setView] = useState<EditorView | null>(null);
  const [initial] = useState(value);
  const [echoes] = useState(() => new Echoes());
  const seen = useRef(value);
  const change = useCallback(
    (text: string) => {
      echoes.tell(text);
      onChange?.(text);
    },
    [echoes, onChange],
  );
  useEffect(() => {
    if (!view || value === seen.current) return;
    seen.current = value;
    if (echoes.hears(value)) return;
    const present = view.state.doc;
    if (present.toString() === value) return;
    view.dispatch({
      changes: { from: 0, to: present.length, insert: value },
      annotations: ExternalChange.of(true),
    });
  }, [value, view, echoes]);
  return { value: initial, onChange: change, onCreateEditor: setView };
}

/** JSON with syntax errors and given problems marked in place. Tab moves the focus on, so that no one is caught inside. */
export function JsonEditor({
  value,
  onChange,
  label,
  readOnly = false,
  problems,
  handle,
  height = '100%',
  ownHistory = true,
}: Props) {
  const { resolvedTheme } = useTheme();
  const editor = useRef<ReactCodeMirrorRef>(null);
  const text = useText(value, onChange);
  const extensions = useMemo(
    () => [
      json(),
      look,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label }),
      ...(readOnly ? [] : [lintGutter(), parseLinter]),
    ],
    [label, readOnly],
  );
  useEffect(() => {
    const view = editor.current?.view;
    if (!view || !problems) return;
    const text = view.state.doc.toString();
    const marks: Diagnostic[] = problems.map(problem => ({
      ...locateProblem(text, problem),
      severity: problem.severity,
      message: problem.message,
      source: problem.code,
    }));
    view.dispatch(setDiagnostics(view.state, marks));
  }, [problems]);
  useEffect(() => {
    if (!handle) return;
    handle.current = {
      jumpTo: problem => {
        const view = editor.current?.view;
        if (!view) return;
        const range = locateProblem(view.state.doc.toString(), problem);
        view.dispatch({
          selection: { anchor: range.from, head: range.to },
          effects: EditorView.scrollIntoView(range.from, { y: 'center' }),
        });
        view.focus();
      },
    };
    return () => {
      handle.current = null;
    };
  }, [handle]);
  return (
    <CodeMirror
      ref={editor}
      {...text}
      readOnly={readOnly}
      height={height}
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      indentWithTab={false}
      basicSetup={ownHistory ? WITH_HISTORY : WITHOUT_HISTORY}
      extensions={extensions}
      className="h-full overflow-hidden rounded-lg border"
    />
  );
}
