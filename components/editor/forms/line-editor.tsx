'use client';
import CodeMirror, { EditorView, keymap, Prec, placeholder as placeholderText } from '@uiw/react-codemirror';
import { useTheme } from 'next-themes';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import { editorLook, PLAIN, useEditorText } from '../../code/editor-text.ts';
import { cx } from '../../ui/classes.ts';
import { type CompletionSource, completionExtensions } from '../code/completion.ts';
import { languageExtensions } from '../code/languages.ts';
import type { CodeHandle } from '../code-editor.tsx';
import { insertValue, valueDrop } from '../values/insert-value.ts';

export type LineEditorProps = {
  label: string;
  value: string;
  onChange: (text: string) => void;
  readOnly: boolean;
  completion: CompletionSource | undefined;
  placeholder?: string | undefined;
  describedBy?: string | undefined;
  invalid?: boolean;
  required?: boolean;
  className?: string;
  /** Set once the editor is mounted. */
  handle?: RefObject<CodeHandle | null> | undefined;
  /** Handles a pasted text. Returns true if the text must not be inserted. */
  onPaste?: ((text: string) => boolean) | undefined;
};

/** The style of an input: the same height and text position. */
const LINE = EditorView.theme({
  '&.cm-editor .cm-content': { padding: '6px 0', fontFamily: 'var(--font-sans)', fontSize: '13px' },
  '.cm-line': { padding: '0 10px' },
  '&.cm-editor .cm-scroller': { overflow: 'hidden auto', lineHeight: '18px', fontFamily: 'var(--font-sans)' },
  '.cm-placeholder': { color: 'var(--faint)' },
});
/** Enter adds no line break; an open completion list handles it first. */
const ONE_LINE = Prec.high(keymap.of([{ key: 'Enter', run: () => true }]));
const WITHOUT_BREAKS = EditorView.clipboardInputFilter.of(text => text.trim().replace(/\s*\r?\n\s*/g, ' '));

/** A single-line text editor with completion in templates. Tab moves the focus on. */
export function LineEditor(props: LineEditorProps) {
  const {
    label,
    value,
    onChange,
    readOnly,
    completion,
    placeholder = '',
    describedBy,
    invalid,
    required,
    handle,
  } = props;
  const { resolvedTheme } = useTheme();
  const text = useEditorText(value, onChange);
  const paste = useRef(props.onPaste);
  useEffect(() => {
    paste.current = props.onPaste;
  });
  const completing = useMemo(
    () => (completion && !readOnly ? completionExtensions('text', completion) : []),
    [completion, readOnly],
  );
  const extensions = useMemo(
    () => [
      ...languageExtensions('text'),
      valueDrop('text'),
      ...completing,
      editorLook,
      LINE,
      ONE_LINE,
      WITHOUT_BREAKS,
      EditorView.lineWrapping,
      placeholderText(placeholder),
      EditorView.domEventHandlers({
        paste: event => {
          const taken = paste.current?.(event.clipboardData?.getData('text/plain') ?? '') ?? false;
          if (taken) event.preventDefault();
          return taken;
        },
      }),
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-multiline': 'false',
        ...(describedBy ? { 'aria-describedby': describedBy } : {}),
        ...(invalid ? { 'aria-invalid': 'true' } : {}),
        ...(required ? { 'aria-required': 'true' } : {}),
      }),
    ],
    [label, placeholder, describedBy, invalid, required, completing],
  );
  return (
    <CodeMirror
      {...text}
      onCreateEditor={view => {
        text.onCreateEditor(view);
        if (handle) handle.current = { insert: path => insertValue(view, path, 'text'), focus: () => view.focus() };
      }}
      readOnly={readOnly}
      maxHeight="96px"
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      indentWithTab={false}
      basicSetup={PLAIN}
      extensions={extensions}
      className={cx('min-w-0 overflow-hidden rounded-md border border-line-strong/60 shadow-sm', props.className)}
    />
  );
}
