'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { actionLabel } from '../analytics/labels.ts';
import { stepTypeLook } from '../graph/step-icon.tsx';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { PeriodFilter } from '../ui/period-filter.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { UsageBreakdown } from './usage-breakdown.tsx';
import { type UsageFilterKey, usageFilterKeys, useUsageView } from './usage-filters.ts';
import { UsageHistory } from './usage-history.tsx';

/** The usage of credits: by one dimension, by item, down to the lines of each step. */
export function UsageExplorer() {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const { by, period, filters } = useUsageView();
  const usage = useQuery(
    trpc.billing_usage_dimensions.queryOptions(
      { by, time_zone: 'UTC', ...filters },
      { placeholderData: keepPreviousData },
    ),
  );
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <PeriodFilter period={period} all="This period" />
        <Chips />
      </div>
      <UsageBreakdown query={usage} by={by} />
      {canWrite ? (
        <UsageHistory filters={filters} />
      ) : (
        <p className="text-sm text-muted">Individual lines need the contributor role.</p>
      )}
    </div>
  );
}

const chipNames: Record<UsageFilterKey, string> = {
  workflow_id: 'Workflow',
  action: 'Action',
  step_type: 'Step type',
  subject: 'Tool or model',
  started_by: 'Started by',
};

/** The active filters, each with a button that removes it. */
function Chips() {
  const { get, set } = useUrlState();
  const { filters } = useUsageView();
  const nameOf = useNames();
  const active = usageFilterKeys.filter(key => filters[key] !== undefined);
  if (active.length === 0) return null;
  return (
    <>
      {active.map(key => (
        <Button
          key={key}
          size="sm"
          className="max-w-72"
          aria-label={`Remove the filter ${chipNames[key]}: ${nameOf(key, get(key))}`}
          onClick={() => set({ [key]: '', cursor: '' }, { push: true })}
        >
          <span className="truncate">
            <span className="text-muted">{chipNames[key]}:</span> {nameOf(key, get(key))}
          </span>
          <X aria-hidden className="size-3 shrink-0" />
        </Button>
      ))}
      <Button
        variant="ghost"
        size="sm"
        onClick={() => set({ ...Object.fromEntries(active.map(key => [key, ''])), cursor: '' }, { push: true })}
      >
        Clear
      </Button>
    </>
  );
}

/** Returns a function that labels a filter of the URL. An unknown workflow or user is labeled by its id. */
function useNames(): (key: UsageFilterKey, value: string) => string {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const { data: workflows } = useQuery(
    trpc.workflows_list.queryOptions(
      { limit: 200, graphs: false },
      { staleTime: 30_000, enabled: get('workflow_id') !== '' },
    ),
  );
  return (key, value) => {
    if (key === 'workflow_id')
      return workflows?.workflows.find(workflow => workflow.id === value)?.name ?? `${value.slice(0, 8)}…`;
    if (key === 'action') return actionLabel(value);
    if (key === 'step_type') return stepTypeLook(value).label;
    return value;
  };
}
