'use client';
import { type ReactNode, useId } from 'react';

export type Choice<V extends string> = { value: V; label: ReactNode; hint?: ReactNode };

/** A choice of exactly one option, which shows all options with their consequences. */
export function Choices<V extends string>({
  legend,
  value,
  choices,
  onChange,
  disabled,
}: {
  legend: string;
  value: V | undefined;
  choices: readonly Choice<V>[];
  onChange: (value: V) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <fieldset disabled={disabled} className="flex flex-col gap-2">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      {choices.map(choice => (
        <div key={choice.value} className="flex items-start gap-2">
          <input
            type="radio"
            id={`${id}-${choice.value}`}
            name={id}
            checked={choice.value === value}
            aria-describedby={choice.hint ? `${id}-${choice.value}-hint` : undefined}
            onChange={() => onChange(choice.value)}
            className="relative mt-0.5 size-4 shrink-0 accent-accent after:absolute after:-inset-1"
          />
          <div>
            <label htmlFor={`${id}-${choice.value}`} className="text-sm">
              {choice.label}
            </label>
            {choice.hint ? (
              <p id={`${id}-${choice.value}-hint`} className="text-xs text-muted">
                {choice.hint}
              </p>
            ) : null}
          </div>
        </div>
      ))}
    </fieldset>
  );
}
