'use client';
import type { QuantityName } from '@/server/domains/analytics/action-columns.ts';
import { BarList } from '../charts/bar-list.tsx';
import { ChartCard, LIST_HEIGHT } from '../charts/chart-card.tsx';
import { formatFigure, type Unit } from '../charts/figures.ts';
import { CHART_HEIGHT, LEGEND_HEIGHT, type Series, TimeSeries, timeSeriesFigures } from '../charts/time-series.tsx';
import { actionLabel, workflowLabel } from './labels.ts';
import type { CreditsConsumed, Query, UsageTimeseries } from './queries.ts';

type Key = QuantityName | 'microcredits';
type UsageChart = {
  id: string;
  title: string;
  description: string;
  empty: string;
  unit: Unit;
  stacked?: boolean;
  series: readonly Series<Key>[];
};

const credits: UsageChart = {
  id: 'credits',
  title: 'Credits over time',
  description: 'By the time the steps ended.',
  empty: 'No credits were consumed in this period.',
  unit: 'credits',
  series: [{ key: 'microcredits', label: 'Credits', ink: 'one' }],
};
const steps: UsageChart = {
  id: 'work',
  title: 'Steps and tool calls over time',
  description: 'Every attempt counts.',
  empty: 'No step was executed in this period.',
  unit: 'count',
  series: [
    { key: 'steps', label: 'Steps', ink: 'one' },
    { key: 'tool_calls', label: 'Tool calls', ink: 'two' },
  ],
};
const tokens: UsageChart = {
  id: 'tokens',
  title: 'LLM tokens over time',
  description: 'As counted by the providers.',
  empty: 'No model was called in this period.',
  unit: 'count',
  stacked: true,
  series: [
    { key: 'llm_input_tokens', label: 'Input tokens', ink: 'one' },
    { key: 'llm_output_tokens', label: 'Output tokens', ink: 'two' },
  ],
};

type Props = { query: Query<UsageTimeseries> };
export const CreditsOverTime = ({ query }: Props) => <Usage chart={credits} query={query} />;
export const StepsOverTime = ({ query }: Props) => <Usage chart={steps} query={query} />;
export const TokensOverTime = ({ query }: Props) => <Usage chart={tokens} query={query} />;

function Usage({ chart, query }: { chart: UsageChart; query: Query<UsageTimeseries> }) {
  const { id, title, description, empty, unit, stacked = false, series } = chart;
  const shared = (data: UsageTimeseries) => ({
    points: data.points,
    series,
    unit,
    granularity: data.granularity,
    timeZone: data.time_zone,
  });
  return (
    <ChartCard
      id={id}
      title={title}
      description={description}
      query={query}
      height={CHART_HEIGHT + LEGEND_HEIGHT}
      isEmpty={data => data.points.every(point => series.every(({ key }) => point[key] === 0))}
      empty={empty}
      figures={data => timeSeriesFigures(shared(data))}
    >
      {data => <TimeSeries title={title} stacked={stacked} {...shared(data)} />}
    </ChartCard>
  );
}

const used = ({ quantity }: { quantity: number }) => quantity > 0;

/** The credits by billable action. */
export function CreditsByAction({ query }: { query: Query<CreditsConsumed> }) {
  return (
    <ChartCard
      id="actions"
      height={LIST_HEIGHT}
      scrolls
      title="Credits by action"
      query={query}
      isEmpty={data => data.microcredits === 0}
      empty="No credits were consumed in this period."
      figures={data => ({
        columns: [{ label: 'Action' }, { label: 'Quantity', unit: 'count' }, { label: 'Credits', unit: 'credits' }],
        rows: data.by_action.map(each => [actionLabel(each.action), each.quantity, each.microcredits]),
      })}
    >
      {data => (
        <BarList
          label="Credits by action"
          unit="credits"
          items={data.by_action.filter(used).map(each => ({
            key: each.action,
            label: actionLabel(each.action),
            value: each.microcredits,
            detail: `${formatFigure(each.quantity, 'count')} charged`,
          }))}
        />
      )}
    </ChartCard>
  );
}

/** The credits by workflow. */
export function CreditsByWorkflow({ query }: { query: Query<CreditsConsumed> }) {
  return (
    <ChartCard
      id="credits-workflows"
      height={LIST_HEIGHT}
      scrolls
      title="Credits by workflow"
      query={query}
      isEmpty={data => data.by_workflow.length === 0}
      empty="No credits were consumed in this period."
      figures={data => ({
        columns: [{ label: 'Workflow' }, { label: 'Credits', unit: 'credits' }, { label: 'Workflow ID' }],
        rows: data.by_workflow.map(each => [workflowLabel(each.workflow_name), each.microcredits, each.workflow_id]),
      })}
    >
      {data => (
        <BarList
          label="Credits by workflow"
          unit="credits"
          items={data.by_workflow.map(each => ({
            key: each.workflow_id,
            label: workflowLabel(each.workflow_name),
            value: each.microcredits,
            href: `/runs?workflow_id=${each.workflow_id}`,
          }))}
        />
      )}
    </ChartCard>
  );
}
