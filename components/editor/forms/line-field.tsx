'use client';
import { type ReactNode, useId, useRef } from 'react';
import { LabelRow } from '../../ui/field.tsx';
import type { CodeHandle } from '../code-editor.tsx';
import { explained } from '../inspector/field-help.tsx';
import { useValuePicker } from '../values/value-button.tsx';
import { ValuePreview } from '../values/value-preview.tsx';
import { LineEditor, type LineEditorProps } from './line-editor.tsx';

type Props = Omit<LineEditorProps, 'describedBy' | 'invalid' | 'handle'> & {
  /** The id of the step whose values can be inserted; without an id, no values can be inserted. */
  step?: string;
  hint?: string | undefined;
  problem?: string | undefined;
  /** Shown to the right of the label. */
  actions?: ReactNode;
  /** Shown before the line, such as the method of a request. */
  before?: ReactNode;
};

/** A labeled single-line text field that may contain templates. */
export function LineField({ hint, problem, actions, before, step, ...line }: Props) {
  const id = useId();
  const handle = useRef<CodeHandle>(null);
  const { button, around } = useValuePicker({
    label: line.label,
    step: step ?? '',
    language: 'text',
    readOnly: line.readOnly || step === undefined,
    onPick: path => handle.current?.insert(path),
    onCancel: () => handle.current?.focus(),
  });
  const { hint: short, help } = explained(hint, line.label);
  return (
    <div className="flex min-w-0 flex-col gap-1" {...around}>
      <div className="flex items-center justify-between gap-2">
        <LabelRow required={line.required ?? false} help={help?.(`${id}-help`)}>
          <p className="text-sm font-medium">{line.label}</p>
        </LabelRow>
        <span className="flex items-center">
          {button}
          {actions}
        </span>
      </div>
      <div className="flex items-start gap-2">
        {before}
        <LineEditor
          {...line}
          handle={handle}
          className="flex-1"
          describedBy={help ? `${id}-help ${id}-hint` : `${id}-hint`}
          invalid={problem !== undefined}
        />
      </div>
      {step === undefined ? null : <ValuePreview step={step} text={line.value} language="text" />}
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
