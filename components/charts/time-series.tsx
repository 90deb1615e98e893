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
  /** The chart's accessible name: what it shows, in a few words. */
  title: string;
  /** One sentence with what is to be seen; made of the totals where absent. */
  summary?: string;
  points: readonly Point<K>[];
  /** Drawn from the bottom to the top where stacked. */
  series: readonly Series<K>[];
  shape?: 'bars' | 'area' | 'line';
  stacked?: boolean;
  unit: Unit;
  granularity: Granularity;
  timeZone: string;
  /** A level to compare with, such as an allowance. */
  limit?: { value: number; label: string };
  /** Pixels, without the legend. */
  height?: number;
};

/** Pixels of a chart, and of the legend beneath it where there are several series. */
export const CHART_HEIGHT = 220;
export const LEGEND_HEIGHT = 24;

// A third of a megabyte of script, only where a chart is shown and after the page around it.
const Plot = dynamic(() => import('./time-series-plot.tsx').then(module => module.TimeSeriesPlot), {
  ssr: false,
  loading: () => <Skeleton className="size-full" />,
});

/**
 * One or several series over time, as bars, areas or lines. The arrow keys lead through the points and each is spoken; the
 * same numbers stand in the table of `timeSeriesFigures`.
 */
export function TimeSeries<K extends string>(props: TimeSeriesProps<K>) {
  const scope = `chart${useId().replaceAll(/[^A-Za-z0-9]/g, '')}`;
  const { height = CHART_HEIGHT, series } = props;
  return (
    <div>
      <div style={{ height } satisfies CSSProperties}>
        <Plot {...props} scope={scope} height={height} summary={props.summary ?? summarise(props)} />
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

function summarise<K extends string>({ points, series, unit, granularity, timeZone, limit }: TimeSeriesProps<K>) {
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

/** The same numbers as rows, for the table behind the chart and its CSV. */
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
