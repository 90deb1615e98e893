'use client';
import { Check } from 'lucide-react';
import { Select as Radix } from 'radix-ui';
import type { ReactNode, RefObject } from 'react';
import { TriggerStandIn } from './trigger-stand-in.tsx';

// Replaces the empty string, which Radix reserves for "nothing chosen", while for us it is an ordinary choice, such as
// a filter's "all".
const EMPTY = '\u0000';

/** The list of a `Select`, beneath its box. */
export function SelectList({
  id,
  trigger,
  open,
  onOpenChange,
  value,
  options,
  onChange,
}: {
  id: string;
  trigger: RefObject<HTMLElement | null>;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  value: string | undefined;
  options: readonly { value: string; label: ReactNode; hint?: string }[];
  onChange: (value: string) => void;
}) {
  return (
    <Radix.Root
      open={open}
      onOpenChange={onOpenChange}
      value={value === '' ? EMPTY : value}
      onValueChange={next => onChange(next === EMPTY ? '' : next)}
    >
      <Radix.Trigger asChild>
        <TriggerStandIn element={trigger} />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          id={id}
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
