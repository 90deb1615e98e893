'use client';
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react';
import { cx } from './classes.ts';

export type FieldHelp = (id: string) => ReactNode;
type FieldState = { id: string; describedBy: string | undefined; invalid: boolean; required: boolean };
const FieldContext = createContext<FieldState | null>(null);

/** Returns the attributes that connect a control with its `Field`; empty outside of a `Field`. */
export function useFieldProps() {
  const field = useContext(FieldContext);
  if (!field) return {};
  return {
    id: field.id,
    'aria-describedby': field.describedBy,
    'aria-invalid': field.invalid || undefined,
    'aria-required': field.required || undefined,
  };
}

/** Marks the label of a required control. Screen readers get this from the control itself. */
export function RequiredMark() {
  return (
    <span aria-hidden className="text-bad">
      *
    </span>
  );
}

export type FieldProps = {
  label: ReactNode;
  hint?: ReactNode;
  /** Renders a longer explanation beside the label, with the id that describes the control. */
  help?: FieldHelp | undefined;
  error?: string | null | undefined;
  required?: boolean;
  optional?: boolean;
  className?: string;
  children: ReactNode;
};

/** A control with its label, hint and error. The control takes its ids from this component. */
export function Field({
  label,
  hint,
  help,
  error,
  required = false,
  optional = false,
  className,
  children,
}: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const helpId = `${id}-help`;
  const describedBy =
    [hint ? hintId : '', help ? helpId : '', error ? errorId : ''].filter(Boolean).join(' ') || undefined;
  return (
    <FieldContext value={{ id, describedBy, invalid: Boolean(error), required }}>
      <div className={cx('flex flex-col gap-1', className)}>
        <LabelRow required={required} help={help?.(helpId)}>
          <label htmlFor={id} className="flex items-baseline gap-1.5 text-sm font-medium">
            {label}
            {optional ? <span className="text-xs font-normal text-faint">optional</span> : null}
          </label>
        </LabelRow>
        {children}
        {hint ? (
          <p id={hintId} className="text-xs text-muted">
            {hint}
          </p>
        ) : null}
        {error ? (
          <p id={errorId} role="alert" className="text-xs text-bad">
            {error}
          </p>
        ) : null}
      </div>
    </FieldContext>
  );
}

/** A label with its required mark and its help. */
export function LabelRow({
  required = false,
  help,
  children,
}: {
  required?: boolean;
  help?: ReactNode;
  children: ReactNode;
}) {
  if (!required && !help) return children;
  return (
    <div className="flex flex-wrap items-center gap-x-1">
      {children}
      {required ? <RequiredMark /> : null}
      {help}
    </div>
  );
}

/** The shared classes of all text controls. */
export const controlClass =
  'control rounded-md border border-line-strong/60 bg-surface px-2.5 text-sm text-text shadow-sm transition-colors hover:border-line-strong focus-visible:outline-offset-0 aria-invalid:border-bad disabled:opacity-55 disabled:bg-sunken';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...useFieldProps()} {...rest} className={cx(controlClass, 'h-8', className)} />;
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      rows={4}
      {...useFieldProps()}
      {...rest}
      className={cx(controlClass, 'min-h-16 resize-y py-1.5', className)}
    />
  );
}
