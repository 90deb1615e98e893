'use client';
import { ChartNoAxesColumn } from 'lucide-react';
import type { ReactNode } from 'react';
import { actionLabel } from '../analytics/labels.ts';
import { TimeSeries } from '../charts/time-series.tsx';
import { StepTypeLabel } from '../graph/step-icon.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { cx } from '../ui/classes.ts';
import { Credits } from '../ui/credits.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { SkeletonRows, Table, Td, THead, Th, Tr } from '../ui/table.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ExportUsage } from './export-usage.tsx';
import { drillDown, usageFilterKeys } from './usage-filters.ts';
import type { UsageDimension, UsageDimensions, UsageItem } from './wire.ts';
import { formatDate } from './words.ts';

const dimensions: readonly { by: UsageDimension; label: string; singular: string }[] = [
  { by: 'workflow', label: 'Workflow', singular: 'Workflow' },
  { by: 'action', label: 'Action', singular: 'Action' },
  { by: 'step_type', label: 'Step type', singular: 'Step type' },
  { by: 'tool', label: 'Tool', singular: 'Tool' },
  { by: 'model', label: 'Model', singular: 'Model' },
  { by: 'user', label: 'Started by', singular: 'Who or what started the run' },
  { by: 'day', label: 'Day', singular: 'Day (UTC)' },
];

type Query = {
  data: UsageDimensions | undefined;
  isError: boolean;
  error: unknown;
  isPlaceholderData: boolean;
  refetch: () => unknown;
};

/** Credits by one dimension, as a table of bars. Each row links to its own breakdown. */
export function UsageBreakdown({ query, by }: { query: Query; by: UsageDimension }) {
  const { get, set } = useUrlState();
  const { data } = query;
  const shown = data?.dimensions[0];
  const filtered = usageFilterKeys.some(key => get(key) !== '') || get('period') !== '';
  return (
    <Card
      flush
      title={
        <span className="flex items-baseline gap-2">
          Usage
          {data ? <Credits value={data.total_microcredits} unit className="text-sm font-normal text-muted" /> : null}
        </span>
      }
      description={data ? periodText(data) : 'Credits used'}
      actions={<ExportUsage />}
    >
      <fieldset className="flex gap-1 overflow-x-auto border-b p-2">
        <legend className="sr-only">Broken down by</legend>
        {dimensions.map(dimension => (
          <Button
            key={dimension.by}
            size="sm"
            variant="ghost"
            aria-pressed={dimension.by === by}
            className="aria-pressed:bg-active aria-pressed:text-text"
            onClick={() => set({ by: dimension.by === 'workflow' ? '' : dimension.by }, { push: true })}
          >
            {dimension.label}
          </Button>
        ))}
      </fieldset>
      {query.isError && !data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : shown?.items.length === 0 && !query.isPlaceholderData ? (
        <Nothing by={by} filtered={filtered} />
      ) : (
        <div aria-busy={query.isPlaceholderData} className={cx(query.isPlaceholderData && 'opacity-55')}>
          {data && shown?.by === 'day' ? <Days items={shown.items} /> : null}
          <Items by={shown?.by ?? by} items={shown?.items} total={data?.total_microcredits ?? 0} />
        </div>
      )}
    </Card>
  );
}

function Days({ items }: { items: readonly UsageItem[] }) {
  const points = items
    .filter(item => !isRest(item))
    .map(item => ({ at: `${item.key}T00:00:00.000Z`, credits: item.microcredits }));
  return (
    <div className="border-b p-4">
      <TimeSeries
        title="Credits used each day"
        points={points}
        series={[{ key: 'credits', label: 'Credits used', ink: 'one' }]}
        unit="credits"
        granularity="day"
        timeZone="UTC"
      />
    </div>
  );
}

function Items({ by, items, total }: { by: UsageDimension; items: readonly UsageItem[] | undefined; total: number }) {
  const dimension = dimensions.find(each => each.by === by);
  const singular = dimension?.singular ?? by;
  return (
    <Table
      label={`Usage by ${dimension?.label.toLowerCase() ?? by}`}
      // The bar has no heading.
      cards={[singular, 'Quantity', 'Credits', 'Share']}
    >
      <THead>
        <Th>{singular}</Th>
        <Th className="text-right">Quantity</Th>
        <Th className="text-right">Credits</Th>
        <Th className="text-right">Share</Th>
        <Th className="w-1/3">
          <span className="sr-only">Bar</span>
        </Th>
      </THead>
      <tbody>
        {items ? (
          items.map(item => <Item key={item.key} by={by} item={item} total={total} />)
        ) : (
          <SkeletonRows rows={4} columns={5} />
        )}
      </tbody>
    </Table>
  );
}

function Item({ by, item, total }: { by: UsageDimension; item: UsageItem; total: number }) {
  const { set } = useUrlState();
  const share = total === 0 ? 0 : item.microcredits / total;
  return (
    <Tr>
      <Td className="max-w-80 min-w-40">
        {isRest(item) ? (
          <span className="text-muted">{item.label}</span>
        ) : (
          <button
            type="button"
            onClick={() => set(drillDown(by, item.key), { push: true })}
            className="block max-w-full truncate text-left font-medium hover:underline"
          >
            {itemLabel(by, item)}
          </button>
        )}
      </Td>
      <Td className="text-right text-muted tabular-nums">{item.quantity.toLocaleString('en')}</Td>
      <Td className="text-right">
        <Credits value={item.microcredits} />
      </Td>
      <Td className="text-right text-muted tabular-nums">{percent.format(share)}</Td>
      <Td>
        <span aria-hidden className="block h-2 min-w-24 overflow-hidden rounded-full bg-hover">
          <span className="block h-full bg-accent" style={{ width: `${share * 100}%` }} />
        </span>
      </Td>
    </Tr>
  );
}

/** Returns the label of an item. The server sends the names of workflows and people; codes get their labels here. */
function itemLabel(by: UsageDimension, { key, label }: UsageItem): ReactNode {
  switch (by) {
    case 'action':
      return actionLabel(key);
    case 'step_type':
      return <StepTypeLabel type={key} />;
    case 'day':
      return formatDate(key);
    default:
      return label || '—';
  }
}

/** The end is exclusive. */
function periodText({ from, to }: UsageDimensions): string {
  const [first, last] = [formatDate(from), formatDate(new Date(Date.parse(to) - 1).toISOString())];
  return first === last ? first : `${first} to ${last}`;
}

/**
 * Returns true for the sum of the items after the first hundred. A tool may have the key `other`, but never together
 * with the label `Other`.
 */
const isRest = ({ key, label }: UsageItem) => key === 'other' && label === 'Other';
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

function Nothing({ by, filtered }: { by: UsageDimension; filtered: boolean }) {
  const { set } = useUrlState();
  const cleared = Object.fromEntries(usageFilterKeys.map(key => [key, '']));
  if (filtered)
    return (
      <EmptyState
        icon={ChartNoAxesColumn}
        title="Nothing was used"
        action={
          <Button onClick={() => set({ ...cleared, period: '', from: '', to: '', cursor: '' })}>Clear filters</Button>
        }
      >
        No credits were charged in this period with these filters.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={ChartNoAxesColumn}
      title={by === 'tool' || by === 'model' ? `No ${by} was used yet` : 'Nothing was used yet'}
      action={<ButtonLink href="/workflows">Go to workflows</ButtonLink>}
    >
      Run a workflow to see what each of its steps costs.
    </EmptyState>
  );
}
