import type { ReactNode } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
import { type Ink, inkColor } from './inks.tsx';

/** One number with its name, a line about it, and its trend. The size is the same in every state. */
export function StatCard({
  label,
  value,
  hint,
  note,
  trend,
}: {
  label: string;
  /** undefined while loading. */
  value: ReactNode | undefined;
  hint?: ReactNode;
  /** Shown below the hint if there is no trend. */
  note?: ReactNode;
  trend?: { title: string; values: readonly number[]; ink?: Ink } | undefined;
}) {
  return (
    <div className="flex min-w-0 flex-col rounded-lg border bg-surface px-4 py-3 shadow-sm">
      <dt className="truncate text-xs text-muted">{label}</dt>
      <dd className="flex flex-1 flex-col">
        <span className="flex h-8 items-center text-xl font-semibold tracking-tight whitespace-nowrap tabular-nums">
          {value === undefined ? <Skeleton className="h-5 w-20" /> : value}
        </span>
        <span className="line-clamp-2 min-h-8 text-xs text-muted">
          {value === undefined ? <Skeleton className="h-3 w-28" /> : hint}
        </span>
        <span className="mt-auto block h-7 pt-1.5">
          {trend ? <Trend {...trend} /> : <span className="text-xs text-muted">{note}</span>}
        </span>
      </dd>
    </div>
  );
}

const WIDTH = 120;
const HEIGHT = 20;

/** A line without axes that shows a trend. A chart elsewhere on the page has the numbers. */
function Trend({ title, values, ink = 'one' }: { title: string; values: readonly number[]; ink?: Ink }) {
  if (values.length < 2) return null;
  const highest = Math.max(...values, Number.MIN_VALUE);
  const points = values.map(
    (value, at) =>
      `${((at / (values.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - 1 - (value / highest) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return (
    <svg
      role="img"
      aria-label={title}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="pointer-events-none block h-5 w-full"
    >
      <title>{title}</title>
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} fill={inkColor(ink)} fillOpacity={0.12} />
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={inkColor(ink)}
        strokeWidth={1.5}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
