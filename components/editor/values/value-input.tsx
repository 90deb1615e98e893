'use client';
import { type ComponentProps, useRef } from 'react';
import { cx } from '../../ui/classes.ts';
import { Input } from '../../ui/field.tsx';
import { useValuePicker } from './value-button.tsx';
import { insertedText, PATH_MIME, readPath, type ValuePath } from './value-path.ts';
import { ValuePreview } from './value-preview.tsx';

type Props = Omit<ComponentProps<'input'>, 'value' | 'onChange'> & {
  /** The name of the field, used in the name of its button. */
  label: string;
  /** The id of the step that contains the field; '' for the workflow. */
  step: string;
  value: string;
  onChange: (value: string) => void;
};

/**
 * A single-line text field for templates. Values can be picked from a tree or dropped, and the text is previewed with
 * the values of the last run.
 */
export function ValueInput({ label, step, value, onChange, readOnly = false, className, ...rest }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const insert = (path: ValuePath) => {
    const element = input.current;
    if (element === null) return;
    const from = element.selectionStart ?? value.length;
    const to = element.selectionEnd ?? from;
    const text = insertedText(path, 'text', value.slice(0, from));
    onChange(value.slice(0, from) + text + value.slice(to));
    element.focus();
    requestAnimationFrame(() => element.setSelectionRange(from + text.length, from + text.length));
  };
  const { button, around } = useValuePicker({
    label,
    step,
    language: 'text',
    readOnly,
    onPick: insert,
    onCancel: () => input.current?.focus(),
  });
  return (
    <div className="flex flex-col gap-1">
      <div className="relative flex" {...around}>
        <Input
          {...rest}
          ref={input}
          value={value}
          readOnly={readOnly}
          onChange={event => onChange(event.target.value)}
          onDrop={event => {
            const path = readPath(event.dataTransfer.getData(PATH_MIME));
            if (path === null || readOnly) return;
            event.preventDefault();
            insert(path);
          }}
          className={cx('min-w-0 flex-1', button !== null && 'pr-8', className)}
        />
        {button === null ? null : <span className="absolute inset-y-0 right-0.5 flex items-center">{button}</span>}
      </div>
      <ValuePreview step={step} text={value} language="text" />
    </div>
  );
}
