'use client';
import { useEffect, useState } from 'react';
import {
  Area,
  Bar,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  Tooltip,
  type TooltipContentProps,
  XAxis,
  YAxis,
} from 'recharts';
import { bucketName, bucketTick } from './buckets.ts';
import { formatFigure, formatFigureInWords, formatTick } from './figures.ts';
import { InkPatterns, InkSwatch, inkColor, inkDash, inkFill } from './inks.tsx';
import type { Series, TimeSeriesProps } from './time-series.tsx';

type Props<K extends string> = TimeSeriesProps<K> & { scope: string; height: number; summary: string };

const axis = { stroke: 'var(--line-strong)', tickLine: false, tick: { fill: 'var(--muted)', fontSize: 11 } } as const;

/** The drawing; `TimeSeries` loads it when a chart is shown. It has no animation, because animated numbers add no information. */
export function TimeSeriesPlot<K extends string>(props: Props<K>) {
  const { title, summary, points, series, unit, granularity, timeZone, limit, scope, height } = props;
  const [spoken, setSpoken] = useState('');
  return (
    <>
      <ComposedChart
        responsive
        accessibilityLayer
        data={points}
        title={title}
        desc={summary}
        aria-label={title}
        barCategoryGap="12%"
        barGap={1}
        margin={{ top: 8, right: 8, bottom: 0, left: 0 }}
        // The wrapper listens to the pointer; over the SVG itself, the browser would show its title.
        className="[&_svg]:pointer-events-none"
        style={{ width: '100%', height }}
      >
        <InkPatterns scope={scope} used={series.map(({ ink }) => ink)} />
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          {...axis}
          dataKey="at"
          tickFormatter={(at: string) => bucketTick(at, granularity, timeZone)}
          height={24}
          minTickGap={12}
          interval="equidistantPreserveStart"
        />
        <YAxis
          {...axis}
          axisLine={false}
          width={44}
          allowDecimals={unit !== 'count'}
          tickCount={5}
          tickFormatter={(value: number) => formatTick(value, unit)}
          domain={[0, 'auto']}
        />
        <Tooltip
          isAnimationActive={false}
          cursor={{ fill: 'var(--hover)', fillOpacity: 0.7, stroke: 'var(--line-strong)' }}
          content={content => <Reading {...content} chart={props} onRead={setSpoken} />}
        />
        {series.map(each => drawSeries(each, props))}
        {limit ? (
          <ReferenceLine
            y={limit.value}
            ifOverflow="extendDomain"
            stroke="var(--text)"
            strokeDasharray="4 4"
            label={{ value: limit.label, position: 'insideTopRight', fill: 'var(--muted)', fontSize: 11 }}
          />
        ) : null}
      </ComposedChart>
      <p role="status" className="sr-only">
        {spoken}
      </p>
    </>
  );
}

function drawSeries<K extends string>(
  { key, label, ink }: Series<K>,
  { shape = 'bars', stacked, scope, points }: Props<K>,
) {
  const stack = stacked ? { stackId: 'all' } : {};
  const common = { dataKey: key, name: label, isAnimationActive: false } as const;
  // A line of one or two points is hardly visible, so dots are drawn.
  const dot = points.length < 3;
  const line = { stroke: inkColor(ink), strokeWidth: 1.5, strokeDasharray: inkDash(ink) } as const;
  switch (shape) {
    case 'bars':
      return <Bar key={key} {...common} {...stack} fill={inkFill(ink, scope)} stroke={inkColor(ink)} maxBarSize={28} />;
    case 'area':
      return (
        <Area
          key={key}
          {...common}
          {...stack}
          {...line}
          type="linear"
          fill={inkFill(ink, scope)}
          fillOpacity={0.25}
          dot={dot}
        />
      );
    case 'line':
      return <Line key={key} {...common} {...line} type="linear" dot={dot} />;
  }
}

/** The values of one point, beside the pointer or at the selected point; announced when the keyboard selects the point. */
function Reading<K extends string>({
  active,
  label,
  chart,
  onRead,
}: TooltipContentProps & { chart: Props<K>; onRead: (text: string) => void }) {
  const { points, series, unit, granularity, timeZone, scope, stacked } = chart;
  const point = active ? points.find(({ at }) => at === label) : undefined;
  const name = point ? bucketName(point.at, granularity, timeZone) : '';
  const text = point
    ? `${name}: ${series.map(({ key, label: what }) => `${what} ${formatFigureInWords(point[key], unit)}`).join(', ')}`
    : '';
  useEffect(() => {
    const keyboard = document.activeElement?.classList.contains('recharts-surface') ?? false;
    onRead(keyboard ? text : '');
  }, [text, onRead]);
  if (!point) return null;
  // In a stack, the topmost series is listed first, as it is seen.
  const rows = stacked ? [...series].reverse() : series;
  return (
    <div className="min-w-36 rounded-md border bg-surface px-2.5 py-1.5 text-xs shadow-pop">
      <p className="mb-1 font-medium whitespace-nowrap">{name}</p>
      <ul className="flex flex-col gap-0.5">
        {rows.map(({ key, label: what, ink }) => (
          <li key={key} className="flex items-center gap-1.5 text-muted">
            <InkSwatch ink={ink} scope={`${scope}-reading`} />
            <span className="flex-1">{what}</span>
            <span className="pl-3 text-text tabular-nums">{formatFigure(point[key], unit)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
