'use client';
import { Check } from 'lucide-react';
import { Checkbox as Radix } from 'radix-ui';
import { type ReactNode, useId } from 'react';
import { type FieldHelp, LabelRow } from './field.tsx';

/** A checkbox with its label beside it and an optional explanation beneath. */
export function Checkbox({
  label,
  hint,
  help,
  checked,
  onCheckedChange,
  disabled,
}: {
  label: ReactNode;
  hint?: ReactNode;
  /** Renders a longer explanation beside the label, with the id that describes the control. */
  help?: FieldHelp | undefined;
  checked: boolean;
  onCheckedChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <Radix.Root
        id={id}
        checked={checked}
        disabled={disabled}
        aria-describedby={[hint ? `${id}-hint` : '', help ? `${id}-help` : ''].filter(Boolean).join(' ') || undefined}
        onCheckedChange={value => onCheckedChange(value === true)}
        className="relative mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface after:absolute after:-inset-1 data-[state=checked]:border-accent data-[state=checked]:bg-accent disabled:opacity-55"
      >
        <Radix.Indicator>
          <Check aria-hidden className="size-3 text-on-accent" strokeWidth={3} />
        </Radix.Indicator>
      </Radix.Root>
      <div>
        <LabelRow help={help?.(`${id}-help`)}>
          <label htmlFor={id} className="text-sm">
            {label}
          </label>
        </LabelRow>
        {hint ? (
          <p id={`${id}-hint`} className="text-xs text-muted">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  );
}
