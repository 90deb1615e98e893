'use client';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { cx } from './classes.ts';
import { type PickerList, PickerPopover } from './picker-popover.tsx';
import { halfHours, placeOfTime } from './time-of-day.ts';

type ListProps = PickerList & { chosen: string; onChoose: (time: string) => void };

/** The half hours of a day, below a time field. */
export function TimeList({ chosen, onChoose, ...list }: ListProps) {
  return (
    <PickerPopover {...list} label="Choose a time" asWide className="overflow-hidden">
      <Times chosen={chosen} onChoose={onChoose} />
    </PickerPopover>
  );
}

/** The offset by which each key moves in the list. */
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
    const offset = KEYS[event.key];
    if (offset === undefined) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(halfHours.length - 1, at + offset)));
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
