'use client';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import CodeMirror, { EditorView, type ReactCodeMirrorRef } from '@uiw/react-codemirror';
import { useTheme } from 'next-themes';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import { editorLook, useEditorText, WITH_HISTORY, WITHOUT_HISTORY } from './editor-text.ts';
import { type GraphProblem, locateProblem } from './locate-problem.ts';

export type JsonEditorHandle = { jumpTo: (problem: Pick<GraphProblem, 'step_id' | 'path'>) => void };

type Props = {
  value: string;
  onChange?: (text: string) => void;
  label: string;
  readOnly?: boolean;
  /** Shown at their places in the text. */
  problems?: readonly (GraphProblem & { severity: 'error' | 'warning' })[];
  handle?: RefObject<JsonEditorHandle | null>;
  height?: string;
  /** False: the page's own undo covers the editor's text and the other changes on the page. */
  ownHistory?: boolean;
  /** Takes the focus once the editor is loaded, unless the user is already in another field of its form. */
  autoFocus?: boolean;
};

const parseLinter = linter(jsonParseLinter(), { delay: 300 });

/**
 * A JSON editor that marks syntax errors and the given problems in the text. Tab moves the focus on, so that the keyboard can leave the
 * editor.
 */
export function JsonEditor({
  value,
  onChange,
  label,
  readOnly = false,
  problems,
  handle,
  height = '100%',
  ownHistory = true,
  autoFocus = false,
}: Props) {
  const { resolvedTheme } = useTheme();
  const editor = useRef<ReactCodeMirrorRef>(null);
  const text = useEditorText(value, onChange);
  const extensions = useMemo(
    () => [
      json(),
      editorLook,
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
      onCreateEditor={view => {
        text.onCreateEditor(view);
        if (autoFocus && !view.dom.closest('form')?.contains(document.activeElement)) view.focus();
      }}
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
