'use client';
import { ChartCard, LIST_HEIGHT } from '../charts/chart-card.tsx';
import { formatFigure, type Unit } from '../charts/figures.ts';
import { formatDuration } from '../ui/time.tsx';
import { workflowLabel } from './labels.ts';
import type { ExecutionDuration, Query } from './queries.ts';

type Percentiles = Pick<ExecutionDuration, 'runs' | 'avg_ms' | 'min_ms' | 'max_ms' | 'p50_ms' | 'p95_ms' | 'p99_ms'>;
type Row = { key: string; name: string; id: string } & Percentiles;

function rowsOf(data: ExecutionDuration): Row[] {
  return [
    { ...data, key: 'all', name: 'All workflows', id: '' },
    ...data.by_workflow.map(each => ({
      ...each,
      key: each.workflow_id,
      name: workflowLabel(each.workflow_name),
      id: each.workflow_id,
    })),
  ];
}

const duration: Unit = 'duration';

/** Shows the durations of completed and failed runs, overall and for each workflow. */
export function Durations({ query }: { query: Query<ExecutionDuration> }) {
  return (
    <ChartCard
      id="durations"
      height={LIST_HEIGHT}
      scrolls
      title="Duration"
      description="From start to end, including waiting time."
      query={query}
      isEmpty={data => data.runs === 0}
      empty="No run completed or failed in this period."
      figures={data => ({
        columns: [
          { label: 'Workflow' },
          { label: 'Runs', unit: 'count' },
          { label: 'p50', unit: duration },
          { label: 'p95', unit: duration },
          { label: 'p99', unit: duration },
          { label: 'Mean', unit: duration },
          { label: 'Shortest', unit: duration },
          { label: 'Longest', unit: duration },
          { label: 'Workflow ID' },
        ],
        rows: rowsOf(data).map(row => [
          row.name,
          ...[row.runs, row.p50_ms, row.p95_ms, row.p99_ms, row.avg_ms, row.min_ms, row.max_ms],
          row.id,
        ]),
      })}
    >
      {data => <DurationList rows={rowsOf(data)} />}
    </ChartCard>
  );
}

function DurationList({ rows }: { rows: readonly Row[] }) {
  const longest = Math.max(1, ...rows.map(({ p99_ms }) => p99_ms ?? 0));
  return (
    <ul aria-label="Durations" className="flex flex-col gap-2.5">
      {rows.map(row => (
        <li key={row.key}>
          <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm sm:flex-nowrap">
            <span className="min-w-0 truncate">
              {row.name}{' '}
              <span className="text-xs text-faint">
                {formatFigure(row.runs, 'count')} {row.runs === 1 ? 'run' : 'runs'}
              </span>
            </span>
            <span className="flex shrink-0 gap-3 text-muted tabular-nums">
              <Percentile name="p50" value={row.p50_ms} />
              <Percentile name="p95" value={row.p95_ms} />
              <Percentile name="p99" value={row.p99_ms} />
            </span>
          </div>
          <Spread row={row} longest={longest} />
        </li>
      ))}
    </ul>
  );
}

function Percentile({ name, value }: { name: string; value: number | null }) {
  return (
    <span className="whitespace-nowrap">
      <span className="text-xs text-faint">{name}</span> {value === null ? '–' : formatDuration(value)}
    </span>
  );
}

/** A bar of the 50th, 95th and 99th percentile, from strong to faint. The numbers beside the bar show the same. */
function Spread({ row, longest }: { row: Row; longest: number }) {
  const bars = [
    { name: 'p99', value: row.p99_ms, opacity: 0.3 },
    { name: 'p95', value: row.p95_ms, opacity: 0.55 },
    { name: 'p50', value: row.p50_ms, opacity: 1 },
  ];
  return (
    <svg aria-hidden width="100%" height={6} className="my-1 block overflow-hidden rounded-full bg-hover">
      {bars.map(({ name, value, opacity }) =>
        value === null ? null : (
          <rect
            key={name}
            height={6}
            style={{ width: `max(2px, ${(value / longest) * 100}%)` }}
            fill="var(--chart-1)"
            fillOpacity={opacity}
          />
        ),
      )}
    </svg>
  );
}
