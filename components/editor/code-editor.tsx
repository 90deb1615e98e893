'use client';
import { type Diagnostic, linter, lintGutter, setDiagnostics } from '@codemirror/lint';
import CodeMirror, { EditorView } from '@uiw/react-codemirror';
import { useTheme } from 'next-themes';
import { type RefObject, useEffect, useMemo, useState } from 'react';
import { editorLook, PLAIN, useEditorText } from '../code/editor-text.ts';
import { cx } from '../ui/classes.ts';
import { type CompletionSource, completionExtensions } from './code/completion.ts';
import { placeProblem } from './code/field-problem.ts';
import { type CodeLanguage, languageExtensions } from './code/languages.ts';
import { insertValue, valueDrop } from './values/insert-value.ts';
import type { ValuePath } from './values/value-path.ts';

type Props = {
  value: string;
  onChange: (text: string) => void;
  label: string;
  language: CodeLanguage;
  readOnly?: boolean;
  /** The id of the element that holds the hint or the problem of the field. */
  describedBy?: string | undefined;
  invalid?: boolean;
  /** The problem of the text, marked at the position that its message names. */
  problem?: string | undefined;
  /** The source of completions: the names that the code can read. */
  completion?: CompletionSource | undefined;
  /** True: the field has its own undo history. False: the page undoes the changes of this field together with its other changes. */
  ownHistory?: boolean;
  /** Whether the editor fills the height of its container. Otherwise it is as high as its text, up to 360 px. */
  fills?: boolean;
  /** Set once the editor is mounted. */
  handle?: RefObject<CodeHandle | null> | undefined;
};

/** Actions on a code editor for other components. */
export type CodeHandle = { insert: (path: ValuePath) => void; focus: () => void };

const OWN_HISTORY = { ...PLAIN, history: true, historyKeymap: true };
const NUMBERED = { ...PLAIN, lineNumbers: true };

const HEIGHTS: Readonly<Record<CodeLanguage, string>> = { lua: '160px', cel: '36px', json: '72px', text: '72px' };

/** A code editor for a field with code or a long text. Tab moves the focus to the next field. */
export function CodeEditor({
  value,
  onChange,
  label,
  language,
  readOnly = false,
  describedBy,
  invalid,
  problem,
  completion,
  ownHistory = false,
  fills = false,
  handle,
}: Props) {
  const { resolvedTheme } = useTheme();
  const text = useEditorText(value, onChange);
  const onView = useProblemMark(problem);
  // Memoized separately: if recreated with the other extensions, completion would close its open list, and a click on
  // the list would be lost.
  const completing = useMemo(
    () => (completion && !readOnly ? completionExtensions(language, completion) : []),
    [language, completion, readOnly],
  );
  const extensions = useMemo(
    () => [
      ...languageExtensions(language),
      valueDrop(language),
      // Keeps the problem marks when the extensions change.
      linter(null),
      ...(language === 'lua' ? [lintGutter()] : []),
      ...completing,
      editorLook,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        'aria-label': label,
        ...(describedBy ? { 'aria-describedby': describedBy } : {}),
        ...(invalid ? { 'aria-invalid': 'true' } : {}),
      }),
    ],
    [language, label, describedBy, invalid, completing],
  );
  return (
    <CodeMirror
      {...text}
      onCreateEditor={view => {
        text.onCreateEditor(view);
        onView(view);
        if (handle) handle.current = { insert: path => insertValue(view, path, language), focus: () => view.focus() };
      }}
      readOnly={readOnly}
      {...(fills ? { height: '100%' } : { minHeight: HEIGHTS[language], maxHeight: '360px' })}
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      indentWithTab={false}
      basicSetup={ownHistory ? OWN_HISTORY : language === 'lua' ? NUMBERED : PLAIN}
      extensions={extensions}
      className={cx('overflow-hidden rounded-md border border-line-strong/60', fills && 'h-full')}
    />
  );
}

/** Returns a function that marks the position of a problem in an editor. */
function useProblemMark(problem: string | undefined) {
  const [view, setView] = useState<EditorView | null>(null);
  useEffect(() => {
    if (!view) return;
    const placed = problem === undefined ? null : placeProblem(view.state.doc.toString(), problem);
    const marks: Diagnostic[] = placed ? [{ ...placed, severity: 'error' }] : [];
    view.dispatch(setDiagnostics(view.state, marks));
  }, [view, problem]);
  return setView;
}
