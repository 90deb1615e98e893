'use client';
import dynamic from 'next/dynamic';
import { type CSSProperties, useId } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
import { bucketName, type Granularity } from './buckets.ts';
import { type Figures, formatFigureInWords, type Unit } from './figures.ts';
import { type Ink, InkSwatch } from './inks.tsx';

export type Series<K extends string = string> = { key: K; label: string; ink: Ink };
export type Point<K extends string = string> = { at: string } & Readonly<Record<K, number>>;

export type TimeSeriesProps<K extends string> = {
  /** The accessible name: what the chart shows, in a few words. */
  title: string;
  /** Describes the data. Default: the period, and the highest and the last value of each series. */
  summary?: string;
  points: readonly Point<K>[];
  /** Drawn from bottom to top if stacked. */
  series: readonly Series<K>[];
  shape?: 'bars' | 'area' | 'line';
  stacked?: boolean;
  unit: Unit;
  granularity: Granularity;
  timeZone: string;
  /** A level to compare with, such as an allowance. */
  limit?: { value: number; label: string };
  /** The height in pixels, without the legend. */
  height?: number;
};

/** The height in pixels of a chart, and of the legend that several series have beneath it. */
export const CHART_HEIGHT = 220;
export const LEGEND_HEIGHT = 24;

// A third of a megabyte of script: loaded after the page around it, and only if a chart is shown.
const Plot = dynamic(() => import('./time-series-plot.tsx').then(module => module.TimeSeriesPlot), {
  ssr: false,
  loading: () => <Skeleton className="size-full" />,
});

/**
 * One or several series over time, as bars, areas or lines. The arrow keys move through the points, and each point is announced. The table
 * of `timeSeriesFigures` has the same numbers.
 */
export function TimeSeries<K extends string>(props: TimeSeriesProps<K>) {
  const scope = `chart${useId().replaceAll(/[^A-Za-z0-9]/g, '')}`;
  const { height = CHART_HEIGHT, series } = props;
  return (
    <div>
      <div style={{ height } satisfies CSSProperties}>
        <Plot {...props} scope={scope} height={height} summary={props.summary ?? summaryOf(props)} />
      </div>
      {series.length > 1 ? (
        <ul aria-hidden className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
          {series.map(({ key, label, ink }) => (
            <li key={key} className="flex items-center gap-1.5">
              <InkSwatch ink={ink} scope={`${scope}-legend`} />
              {label}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

function summaryOf<K extends string>({ points, series, unit, granularity, timeZone, limit }: TimeSeriesProps<K>) {
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return 'Nothing in this period.';
  const span = `${bucketName(first.at, granularity, timeZone)} to ${bucketName(last.at, granularity, timeZone)}`;
  const parts = series.map(({ key, label }) => {
    const values = points.map(point => point[key]);
    return `${label}: highest ${formatFigureInWords(Math.max(...values), unit)}, last ${formatFigureInWords(last[key], unit)}`;
  });
  const level = limit ? ` ${limit.label}: ${formatFigureInWords(limit.value, unit)}.` : '';
  return `${span}. ${parts.join('. ')}.${level} Use the left and right arrow keys to move between the points.`;
}

/** Returns the numbers of a chart as rows, for its table and its CSV. */
export function timeSeriesFigures<K extends string>({
  points,
  series,
  unit,
  granularity,
  timeZone,
}: Pick<TimeSeriesProps<K>, 'points' | 'series' | 'unit' | 'granularity' | 'timeZone'>): Figures {
  return {
    columns: [{ label: 'Period' }, ...series.map(({ label }) => ({ label, unit }))],
    rows: points.map(point => [bucketName(point.at, granularity, timeZone), ...series.map(({ key }) => point[key])]),
  };
}
