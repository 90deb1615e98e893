'use client';
import { Check } from 'lucide-react';
import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui';
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react';
import { cx } from './classes.ts';

type FieldState = { id: string; describedBy: string | undefined; invalid: boolean; required: boolean };
const FieldContext = createContext<FieldState | null>(null);

/** The attributes that tie a control to the `Field` around it; empty outside of one. */
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

/** A labelled control with its hint and its error. The control inside takes its ids from here. */
export function Field({
  label,
  hint,
  error,
  required = false,
  optional = false,
  className,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | null | undefined;
  required?: boolean;
  optional?: boolean;
  className?: string;
  children: ReactNode;
}) {
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const describedBy = [hint ? hintId : '', error ? errorId : ''].filter(Boolean).join(' ') || undefined;
  return (
    <FieldContext value={{ id, describedBy, invalid: Boolean(error), required }}>
      <div className={cx('flex flex-col gap-1', className)}>
        <label htmlFor={id} className="flex items-baseline gap-1.5 text-sm font-medium">
          {label}
          {optional ? <span className="text-xs font-normal text-faint">optional</span> : null}
        </label>
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

/** Shared look of every text control. */
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

/** A tick box with its label beside it and an optional explanation beneath. */
export function Checkbox({
  label,
  hint,
  checked,
  onCheckedChange,
  disabled,
}: {
  label: ReactNode;
  hint?: ReactNode;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <RadixCheckbox.Root
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onCheckedChange={value => onCheckedChange(value === true)}
        className="relative mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface after:absolute after:-inset-1 data-[state=checked]:border-accent data-[state=checked]:bg-accent disabled:opacity-55"
      >
        <RadixCheckbox.Indicator>
          <Check aria-hidden className="size-3 text-on-accent" strokeWidth={3} />
        </RadixCheckbox.Indicator>
      </RadixCheckbox.Root>
      <div>
        <label htmlFor={id} className="text-sm">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  );
}

/** An on/off switch; `label` is its accessible name. */
export function Switch({
  label,
  checked,
  onCheckedChange,
  disabled,
}: {
  label: string;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  return (
    <RadixSwitch.Root
      aria-label={label}
      checked={checked}
      disabled={disabled}
      onCheckedChange={onCheckedChange}
      className="relative h-5 w-9 shrink-0 rounded-full bg-line-strong p-0.5 transition-colors data-[state=checked]:bg-accent disabled:opacity-55"
    >
      <RadixSwitch.Thumb className="block size-4 rounded-full bg-white transition-transform data-[state=checked]:translate-x-4" />
    </RadixSwitch.Root>
  );
}
