'use client';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { IconButton } from './button.tsx';
import { dayAfter, monthAfter, monthGrid, today } from './calendar-day.ts';
import { cx } from './classes.ts';
import { type PickerList, PickerPopover } from './picker-popover.tsx';

const WEEKDAYS = [
  ['Mo', 'Monday'],
  ['Tu', 'Tuesday'],
  ['We', 'Wednesday'],
  ['Th', 'Thursday'],
  ['Fr', 'Friday'],
  ['Sa', 'Saturday'],
  ['Su', 'Sunday'],
] as const;
const title = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });
const full = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' });

type CalendarProps = PickerList & { chosen: string; onChoose: (day: string) => void };

/** A calendar below a date field. */
export function CalendarPopover({ chosen, onChoose, ...list }: CalendarProps) {
  return (
    <PickerPopover {...list} label="Choose a day" className="p-3">
      <Month chosen={chosen} onChoose={onChoose} />
    </PickerPopover>
  );
}

/** The offset in days or months by which each key moves in the grid. */
const DAY_KEYS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };
const MONTH_KEYS: Readonly<Record<string, number>> = { PageUp: -1, PageDown: 1 };

function Month({ chosen, onChoose }: Pick<CalendarProps, 'chosen' | 'onChoose'>) {
  const now = today();
  const [at, setAt] = useState(chosen || now);
  // The focus follows the keys from day to day, but stays on a pressed month button.
  const movesFocus = useRef(true);
  const turnMonths = (months: number) => {
    movesFocus.current = false;
    setAt(monthAfter(at, months));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const days = DAY_KEYS[event.key];
    const months = MONTH_KEYS[event.key];
    if (days === undefined && months === undefined) return;
    event.preventDefault();
    movesFocus.current = true;
    setAt(days === undefined ? monthAfter(at, months ?? 0) : dayAfter(at, days));
  };
  return (
    <>
      <div className="mb-2 flex items-center justify-between gap-2">
        <IconButton label="Previous month" size="sm" tooltip={false} onClick={() => turnMonths(-1)}>
          <ChevronLeft aria-hidden className="size-4" />
        </IconButton>
        <p aria-live="polite" className="text-sm font-medium">
          {title.format(new Date(at))}
        </p>
        <IconButton label="Next month" size="sm" tooltip={false} onClick={() => turnMonths(1)}>
          <ChevronRight aria-hidden className="size-4" />
        </IconButton>
      </div>
      <table aria-label={title.format(new Date(at))} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            {WEEKDAYS.map(([short, long]) => (
              <th key={short} scope="col" abbr={long} className="size-8 text-xs font-normal text-faint">
                {short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {monthGrid(at).map(week => (
            <tr key={week[0]}>
              {week.map(day => (
                <td key={day} className="p-0">
                  <button
                    type="button"
                    ref={button => {
                      if (day === at && movesFocus.current) button?.focus();
                    }}
                    tabIndex={day === at ? 0 : -1}
                    aria-label={full.format(new Date(day))}
                    aria-pressed={day === chosen}
                    aria-current={day === now ? 'date' : undefined}
                    onClick={() => onChoose(day)}
                    className={cx(
                      'size-8 rounded-md text-sm tabular-nums focus-visible:-outline-offset-2',
                      day === chosen ? 'bg-accent font-medium text-on-accent' : 'hover:bg-hover',
                      day !== chosen && !day.startsWith(at.slice(0, 7)) && 'text-faint',
                      day === now && day !== chosen && 'font-semibold text-accent-text',
                    )}
                  >
                    {Number(day.slice(8))}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
