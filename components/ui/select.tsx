'use client';
import { Check, ChevronDown } from 'lucide-react';
import { Select as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from './classes.ts';
import { controlClass, useFieldProps } from './field.tsx';

export type SelectOption<V extends string> = { value: V; label: ReactNode; hint?: string };

// Radix keeps the empty string for "nothing chosen", but a filter's "all" is a choice like any other.
const EMPTY = '\u0000';

/** One of a short list. Give `label` where no `Field` names it. */
export function Select<V extends string>({
  value,
  options,
  onChange,
  label,
  placeholder,
  disabled,
  size = 'md',
  className,
}: {
  value: V | undefined;
  options: readonly SelectOption<V>[];
  onChange: (value: V) => void;
  label?: string;
  placeholder?: string;
  disabled?: boolean;
  size?: 'sm' | 'md';
  className?: string;
}) {
  const field = useFieldProps();
  return (
    <Radix.Root
      value={value === '' ? EMPTY : value}
      onValueChange={next => onChange((next === EMPTY ? '' : next) as V)}
      disabled={disabled}
    >
      <Radix.Trigger
        {...field}
        aria-label={label}
        className={cx(
          controlClass,
          'flex items-center justify-between gap-2 text-left data-placeholder:text-faint',
          size === 'sm' ? 'h-7 text-xs' : 'h-8',
          className,
        )}
      >
        <span className="truncate">
          {/* Given here, because Radix finds the label only once its list is mounted: the server would send an empty box. */}
          <Radix.Value placeholder={placeholder}>{options.find(option => option.value === value)?.label}</Radix.Value>
        </span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border bg-surface shadow-pop"
        >
          <Radix.Viewport className="p-1">
            {options.map(option => (
              <Radix.Item
                key={option.value}
                value={option.value === '' ? EMPTY : option.value}
                className="flex cursor-default items-center gap-2 rounded-md py-1.5 pr-2 pl-7 text-sm outline-none select-none data-highlighted:bg-hover"
              >
                <Radix.ItemIndicator className="-ml-5 w-3">
                  <Check aria-hidden className="size-3.5" />
                </Radix.ItemIndicator>
                <span className="flex flex-col">
                  <Radix.ItemText>{option.label}</Radix.ItemText>
                  {option.hint ? <span className="text-xs text-muted">{option.hint}</span> : null}
                </span>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
