'use client';
import { type ReactNode, useId } from 'react';
import { LabelRow } from '../../ui/field.tsx';
import { explained } from '../inspector/field-help.tsx';
import { LineEditor, type LineEditorProps } from './line-editor.tsx';

type Props = Omit<LineEditorProps, 'describedBy' | 'invalid'> & {
  hint?: string | undefined;
  problem?: string | undefined;
  /** Beside the label, at its right. */
  actions?: ReactNode;
  /** Before the line, such as the method of a request. */
  before?: ReactNode;
};

/** A labelled line of text that may hold templates. */
export function LineField({ hint, problem, actions, before, ...line }: Props) {
  const id = useId();
  const { hint: short, help } = explained(hint, line.label);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-center justify-between gap-2">
        <LabelRow required={line.required ?? false} help={help?.(`${id}-help`)}>
          <p className="text-sm font-medium">{line.label}</p>
        </LabelRow>
        {actions}
      </div>
      <div className="flex items-start gap-2">
        {before}
        <LineEditor
          {...line}
          className="flex-1"
          describedBy={help ? `${id}-help ${id}-hint` : `${id}-hint`}
          invalid={problem !== undefined}
        />
      </div>
      <div id={`${id}-hint`} className="text-xs empty:hidden">
        {short ? <p className="text-muted">{short}</p> : null}
        {problem ? (
          <p role="alert" className="wrap-anywhere text-bad">
            {problem}
          </p>
        ) : null}
      </div>
    </div>
  );
}
