'use client';
import { useRef } from 'react';
import type { CodeHandle } from '../code-editor.tsx';
import { useValuePicker } from '../values/value-button.tsx';
import { LineEditor, type LineEditorProps } from './line-editor.tsx';

type Props = Omit<LineEditorProps, 'handle'> & {
  /** The id of the step whose values can be inserted. */
  step: string;
};

/** A line of a table that may contain templates. Values are picked from a tree or dropped. */
export function ValueLine({ step, ...line }: Props) {
  const handle = useRef<CodeHandle>(null);
  const { button, around } = useValuePicker({
    label: line.label,
    step,
    language: 'text',
    readOnly: line.readOnly,
    onPick: path => handle.current?.insert(path),
    onCancel: () => handle.current?.focus(),
  });
  return (
    <div className="flex min-w-0 flex-1 items-start gap-1" {...around}>
      <LineEditor {...line} handle={handle} className="flex-1" />
      {button === null ? null : <span className="flex h-8 items-center">{button}</span>}
    </div>
  );
}
