'use client';
import { json } from '@codemirror/lang-json';
import CodeMirror, { EditorView } from '@uiw/react-codemirror';
import { useTheme } from 'next-themes';
import { useMemo } from 'react';
import { editorLook, useEditorText } from './editor-text.ts';

export type CodeLanguage = 'lua' | 'cel' | 'json' | 'text';
type Props = {
  value: string;
  onChange: (text: string) => void;
  label: string;
  language: CodeLanguage;
  readOnly?: boolean;
  /** The id of the element that explains the field, or says what is wrong with it. */
  describedBy?: string | undefined;
  invalid?: boolean;
  /** True: the field undoes what is typed by itself. False: the page does, together with its other changes. */
  ownHistory?: boolean;
};

/** The page undoes what is typed. Prose and expressions need no line numbers. */
const PLAIN = {
  history: false,
  historyKeymap: false,
  lineNumbers: false,
  foldGutter: false,
  highlightActiveLine: false,
};
const OWN_HISTORY = { ...PLAIN, history: true, historyKeymap: true };
const NUMBERED = { ...PLAIN, lineNumbers: true };

/** A field of a step that holds code or a long text. Tab moves the focus on. */
export function CodeEditor({
  value,
  onChange,
  label,
  language,
  readOnly = false,
  describedBy,
  invalid,
  ownHistory = false,
}: Props) {
  const { resolvedTheme } = useTheme();
  const text = useEditorText(value, onChange);
  const extensions = useMemo(
    () => [
      ...(language === 'json' ? [json()] : []),
      editorLook,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        'aria-label': label,
        ...(describedBy ? { 'aria-describedby': describedBy } : {}),
        ...(invalid ? { 'aria-invalid': 'true' } : {}),
      }),
    ],
    [language, label, describedBy, invalid],
  );
  return (
    <CodeMirror
      {...text}
      readOnly={readOnly}
      minHeight={language === 'lua' ? '160px' : language === 'cel' ? '36px' : '72px'}
      maxHeight="360px"
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      indentWithTab={false}
      basicSetup={ownHistory ? OWN_HISTORY : language === 'lua' ? NUMBERED : PLAIN}
      extensions={extensions}
      className="overflow-hidden rounded-md border border-line-strong/60"
    />
  );
}
