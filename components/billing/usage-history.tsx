'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ReceiptText } from 'lucide-react';
import { actionLabel } from '../analytics/labels.ts';
import { stepTypeLook } from '../graph/step-icon.tsx';
import { ScopedLink } from '../session/scoped-link.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Credits } from '../ui/credits.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { EmptyState } from '../ui/states.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { UsageFilters } from './usage-filters.ts';
import type { UsageLine } from './wire.ts';

/** The use of each action by each attempt, newest first, with its run and price. */
export function UsageHistory({ filters }: { filters: UsageFilters }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const cursor = get('cursor');
  const list = useQuery(
    trpc.billing_usage_history.queryOptions(
      { limit: 50, ...filters, ...(cursor ? { cursor } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  return (
    <section aria-labelledby="usage-lines" className="flex flex-col gap-2">
      <h2 id="usage-lines" className="text-base font-semibold">
        Line by line
      </h2>
      <ListCard
        label="Usage lines"
        columns={['Workflow', 'Step', 'Attempt', 'Used', 'Quantity', 'Unit price', 'Credits', 'Started by', 'When']}
        query={list}
        items={list.data?.usage}
        next={list.data?.next_cursor}
        row={line => (
          <Row key={`${line.id}:${line.step_id}:${line.attempt}:${line.action}:${line.subject}`} line={line} />
        )}
        empty={
          <EmptyState
            icon={ReceiptText}
            title="No lines"
            action={<ButtonLink href="/workflows">Go to workflows</ButtonLink>}
          >
            Each step that runs adds a line with its usage.
          </EmptyState>
        }
      />
    </section>
  );
}

function Row({ line }: { line: UsageLine }) {
  const run = `/workflows/${line.workflow_id}/runs/${line.run_id}`;
  return (
    <Tr>
      <Td className="max-w-60 min-w-36">
        <ScopedLink href={run} project={line.project_id} className="block truncate font-medium hover:underline">
          {line.workflow_name ?? 'Deleted workflow'}
        </ScopedLink>
      </Td>
      <Td className="max-w-52 min-w-28">
        <ScopedLink
          href={`${run}?step=${encodeURIComponent(line.step_id)}`}
          project={line.project_id}
          className="block truncate font-mono text-xs hover:underline"
        >
          {line.step_id}
        </ScopedLink>
        <span className="block text-xs text-muted">{stepTypeLook(line.step_type).label}</span>
      </Td>
      <Td className="text-muted tabular-nums">{line.attempt}</Td>
      <Td className="max-w-60 min-w-32">
        {actionLabel(line.action)}
        {line.subject ? <span className="block truncate text-xs text-muted">{line.subject}</span> : null}
      </Td>
      <Td className="text-muted tabular-nums">{line.quantity.toLocaleString('en')}</Td>
      <Td className="text-muted">
        <Credits value={line.unit_microcredits} />
      </Td>
      <Td>
        <Credits value={line.microcredits} />
      </Td>
      <Td className="max-w-44">
        <span className="block truncate text-muted" title={line.started_by}>
          {line.started_by}
        </span>
      </Td>
      <Td>
        <RelativeTime at={line.at} />
      </Td>
    </Tr>
  );
}
