import type { ReactNode } from 'react';
import { Credits } from '../ui/credits.tsx';
import { Link } from '../ui/link.tsx';
import { formatFigure, type Unit } from './figures.ts';
import { type Ink, inkColor } from './inks.tsx';

export type BarItem = {
  key: string;
  label: ReactNode;
  value: number;
  /** The link of the row. */
  href?: string;
  /** A short text beneath the label. */
  detail?: ReactNode;
  /** Parts of `value`, drawn one after the other, each in its own ink. The rest has the ink of the list. */
  parts?: readonly { ink: Ink; value: number }[];
};

/**
 * A list of amounts with bars. The largest amount fills the width, or `of` does if the total is known. The bars only repeat the numbers in
 * the text, so they are hidden from screen readers.
 */
export function BarList({
  label,
  items,
  unit,
  of,
  ink = 'one',
}: {
  /** The list's accessible name. */
  label: string;
  items: readonly BarItem[];
  unit: Unit;
  of?: number;
  ink?: Ink;
}) {
  const whole = Math.max(of ?? 0, ...items.map(({ value }) => value), Number.MIN_VALUE);
  return (
    <ul aria-label={label} className="flex flex-col gap-2.5">
      {items.map(item => (
        <li key={item.key} className="min-w-0">
          <div className="flex items-baseline justify-between gap-3 text-sm">
            <span className="min-w-0 truncate">
              {item.href ? (
                <Link href={item.href} className="hover:underline">
                  {item.label}
                </Link>
              ) : (
                item.label
              )}
            </span>
            <span className="shrink-0 text-muted tabular-nums">
              {unit === 'credits' ? <Credits value={item.value} /> : formatFigure(item.value, unit)}
            </span>
          </div>
          <Bar item={item} whole={whole} ink={ink} />
          {item.detail ? <p className="text-xs text-faint">{item.detail}</p> : null}
        </li>
      ))}
    </ul>
  );
}

function Bar({ item, whole, ink }: { item: BarItem; whole: number; ink: Ink }) {
  const parts = item.parts ?? [];
  const rest = item.value - parts.reduce((sum, { value }) => sum + value, 0);
  const drawn = [...parts, { ink, value: rest }].filter(({ value }) => value > 0);
  let x = 0;
  return (
    <svg aria-hidden width="100%" height={6} className="my-1 block overflow-hidden rounded-full bg-hover">
      {drawn.map(part => {
        const from = x;
        x += (part.value / whole) * 100;
        return (
          <rect
            key={part.ink}
            x={`${from}%`}
            // A small value still gets a visible bar.
            style={{ width: `max(2px, ${x - from}%)` }}
            height={6}
            fill={inkColor(part.ink)}
          />
        );
      })}
    </svg>
  );
}
