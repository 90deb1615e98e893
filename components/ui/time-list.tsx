'use client';
import { Popover } from 'radix-ui';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { cx } from './classes.ts';
import { halfHours, placeOfTime } from './time-of-day.ts';
import { TriggerStandIn } from './trigger-stand-in.tsx';

type ListProps = {
  /** The field of the list. */
  anchor: RefObject<HTMLElement | null>;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  chosen: string;
  onChoose: (time: string) => void;
};

/** The half hours of a day, beneath the field of a time. */
export function TimeList({ anchor, open, onOpenChange, chosen, onChoose }: ListProps) {
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger asChild>
        <TriggerStandIn element={anchor} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Choose a time"
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onOpenAutoFocus={event => event.preventDefault()}
          onCloseAutoFocus={event => {
            event.preventDefault();
            anchor.current?.querySelector('input')?.focus();
          }}
          style={{ minWidth: anchor.current?.offsetWidth }}
          className="z-50 overflow-hidden rounded-lg border bg-surface shadow-pop"
        >
          <Times chosen={chosen} onChoose={onChoose} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** How far each key moves in the list. */
const KEYS: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -6,
  PageDown: 6,
  Home: -48,
  End: 48,
};

function Times({ chosen, onChoose }: Pick<ListProps, 'chosen' | 'onChoose'>) {
  const [at, setAt] = useState(() => placeOfTime(chosen));
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const option = list.current?.children[at];
    if (!(option instanceof HTMLElement)) return;
    option.focus();
    option.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent) => {
    const by = KEYS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(halfHours.length - 1, at + by)));
  };
  return (
    <div
      ref={list}
      role="listbox"
      tabIndex={-1}
      aria-label="Times"
      onKeyDown={onKeyDown}
      className="max-h-64 overflow-y-auto p-1"
    >
      {halfHours.map((time, index) => (
        <div
          key={time}
          role="option"
          tabIndex={index === at ? 0 : -1}
          aria-selected={time === chosen.slice(0, 5)}
          onClick={() => onChoose(time)}
          onKeyDown={event => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            onChoose(time);
          }}
          className={cx(
            'flex h-7 cursor-default items-center rounded-md px-2 text-sm tabular-nums outline-none hover:bg-hover focus:bg-hover',
            time === chosen.slice(0, 5) && 'font-medium text-accent-text',
          )}
        >
          {time}
        </div>
      ))}
    </div>
  );
}
