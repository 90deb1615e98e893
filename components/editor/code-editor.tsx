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
  /** The id of the element that explains the field, or says what is wrong with it. */
  describedBy?: string | undefined;
  invalid?: boolean;
  /** Marked at the place that it names. */
  problem?: string | undefined;
  /** The source of completions: the names that the code can read. */
  completion?: CompletionSource | undefined;
  /** True: the field undoes what is typed by itself. False: the page does, together with its other changes. */
  ownHistory?: boolean;
  /** As high as the place that it is in; otherwise as high as its text, up to 360 px. */
  fills?: boolean;
  /** Filled once the editor stands. */
  handle?: RefObject<CodeHandle | null> | undefined;
};

/** Actions on an editor of code from outside of it. */
export type CodeHandle = { insert: (path: ValuePath) => void; focus: () => void };

const OWN_HISTORY = { ...PLAIN, history: true, historyKeymap: true };
const NUMBERED = { ...PLAIN, lineNumbers: true };

const HEIGHTS: Readonly<Record<CodeLanguage, string>> = { lua: '160px', cel: '36px', json: '72px', text: '72px' };

/** A field of a step that holds code or a long text. Tab moves the focus on. */
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
  // By itself: made anew with the others, it would forget the list that is shown, and a click on it would be lost.
  const completing = useMemo(
    () => (completion && !readOnly ? completionExtensions(language, completion) : []),
    [language, completion, readOnly],
  );
  const extensions = useMemo(
    () => [
      ...languageExtensions(language),
      valueDrop(language),
      // Holds the marks below, also when the extensions change.
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

/** Marks the place of a problem in the editor that the returned function is given. */
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
