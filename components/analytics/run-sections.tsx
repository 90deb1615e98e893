'use client';
import { BarList } from '../charts/bar-list.tsx';
import { ChartCard, LIST_HEIGHT } from '../charts/chart-card.tsx';
import { CHART_HEIGHT, LEGEND_HEIGHT, TimeSeries, timeSeriesFigures } from '../charts/time-series.tsx';
import { workflowLabel } from './labels.ts';
import type { Query, RunsCount, RunsTimeseries } from './queries.ts';

const outcomes = [
  { key: 'completed', label: 'Completed', ink: 'completed' },
  { key: 'failed', label: 'Failed', ink: 'failed' },
  { key: 'stopped', label: 'Stopped', ink: 'stopped' },
] as const;
const started = { key: 'started', label: 'Started', ink: 'one' } as const;

/** The outcomes of runs, by the time at which they ended. The table also has the number of started runs. */
export function RunsOverTime({ query }: { query: Query<RunsTimeseries> }) {
  const shared = (data: RunsTimeseries) => ({
    points: data.points,
    unit: 'count' as const,
    granularity: data.granularity,
    timeZone: data.time_zone,
  });
  return (
    <ChartCard
      id="runs"
      title="Runs over time"
      description="By end time and outcome."
      query={query}
      height={CHART_HEIGHT + LEGEND_HEIGHT}
      isEmpty={data => data.points.every(point => point.started + point.completed + point.failed + point.stopped === 0)}
      empty="No run started or ended in this period."
      figures={data => timeSeriesFigures({ ...shared(data), series: [started, ...outcomes] })}
    >
      {data => <TimeSeries title="Runs over time" stacked series={outcomes} {...shared(data)} />}
    </ChartCard>
  );
}

/** The workflows with the most runs, and their failures. Each row links to its runs. */
export function RunsByWorkflow({ query }: { query: Query<RunsCount> }) {
  return (
    <ChartCard
      id="workflows"
      height={LIST_HEIGHT}
      scrolls
      title="Runs by workflow"
      description="Runs started. Failed runs first, in red."
      query={query}
      isEmpty={data => data.by_workflow.length === 0}
      empty="No run started in this period."
      figures={data => ({
        columns: [
          { label: 'Workflow' },
          { label: 'Started', unit: 'count' },
          { label: 'Failed', unit: 'count' },
          { label: 'Workflow ID' },
        ],
        rows: data.by_workflow.map(each => [
          workflowLabel(each.workflow_name),
          each.started,
          each.failed,
          each.workflow_id,
        ]),
      })}
    >
      {data => (
        <BarList
          label="Runs by workflow"
          unit="count"
          items={data.by_workflow.map(each => ({
            key: each.workflow_id,
            label: workflowLabel(each.workflow_name),
            value: each.started,
            href: `/runs?workflow_id=${each.workflow_id}`,
            detail: each.failed > 0 ? `${each.failed} failed` : undefined,
            parts: [{ ink: 'failed', value: Math.min(each.failed, each.started) }],
          }))}
        />
      )}
    </ChartCard>
  );
}
