'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { SearchX, Waypoints } from 'lucide-react';
import { useCreditsShown } from '../shell/session.tsx';
import { type FirstRead, useFirstRead } from '../trpc/first-read.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Credits } from '../ui/credits.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { EmptyState } from '../ui/states.tsx';
import { StatusBadge, shownStatus } from '../ui/status-badge.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { Duration, RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { readRunFilters, runListInput } from './read-run-filters.ts';

type Run = Outputs['runs_list_tenant']['runs'][number];

export type FirstRuns = FirstRead<'runs_list_tenant'> | null;

/**
 * Runs, newest first, live: the tenant's, or one workflow's. Filters and the page are taken from the URL.
 */
export function RunTable({ workflowId, first }: { workflowId?: string; first?: FirstRuns }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const filters = workflowId === undefined ? readRunFilters(get) : { workflow_id: workflowId };
  const cursor = get('cursor');
  const showsCredits = useCreditsShown();
  const input = runListInput(get, filters);
  const list = useQuery(
    trpc.runs_list_tenant.queryOptions(input, {
      refetchInterval: 3_000,
      placeholderData: keepPreviousData,
      ...useFirstRead(first, input),
    }),
  );
  const columns = ['Workflow', 'Status', 'Progress', 'Trigger', 'Started', 'Duration', 'Credits', 'Run'].filter(
    column => showsCredits || column !== 'Credits',
  );
  const filtered = (workflowId === undefined && Object.keys(filters).length > 0) || get('kind') !== '';
  return (
    <ListCard
      label="Runs"
      columns={columns}
      query={list}
      items={list.data?.runs}
      next={list.data?.next_cursor}
      row={run => <Row key={run.run_id} run={run} />}
      empty={<Nothing filtered={filtered || cursor !== ''} />}
    />
  );
}

function Row({ run }: { run: Run }) {
  const href = `/workflows/${run.workflow_id}/runs/${run.run_id}`;
  return (
    <Tr>
      <Td className="max-w-72 min-w-40">
        <Link href={href} className="block truncate font-medium hover:underline">
          {run.workflow_name}
        </Link>
        {run.error ? (
          <span className="block truncate text-xs text-bad" title={run.error.message}>
            {run.error.step_id}: {run.error.message}
          </span>
        ) : null}
      </Td>
      <Td>
        <StatusBadge kind="run" status={shownStatus(run)} />
      </Td>
      <Td>
        <Progress done={run.steps_done} total={run.steps_total} />
      </Td>
      <Td className="whitespace-nowrap text-muted">
        {run.trigger_type} <span className="text-faint">{run.test ? 'draft' : `v${run.version}`}</span>
      </Td>
      <Td>
        <RelativeTime at={run.started_at} />
      </Td>
      <Td>
        <Duration from={run.started_at} to={run.ended_at} />
      </Td>
      {useCreditsShown() ? (
        <Td>
          <Credits value={run.credits_microcredits} className="whitespace-nowrap text-muted tabular-nums" />
        </Td>
      ) : null}
      <Td className="whitespace-nowrap">
        <CopyId id={run.run_id} />
      </Td>
    </Tr>
  );
}

function Progress({ done, total }: { done: number; total: number }) {
  const percent = total === 0 ? 0 : Math.round((done / total) * 100);
  return (
    <span className="flex items-center gap-2 whitespace-nowrap text-muted tabular-nums">
      <span aria-hidden className="h-1 w-14 overflow-hidden rounded-full bg-active">
        <span className="block h-full bg-muted" style={{ width: `${percent}%` }} />
      </span>
      {done}/{total}
      <span className="sr-only"> steps done</span>
    </span>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const { set } = useUrlState();
  if (filtered)
    return (
      <EmptyState
        icon={SearchX}
        title="No run matches"
        action={
          <Button onClick={() => set({ q: '', status: '', workflow_id: '', from: '', to: '', kind: '', cursor: '' })}>
            Clear filters
          </Button>
        }
      />
    );
  return (
    <EmptyState
      icon={Waypoints}
      title="No runs yet"
      action={<ButtonLink href="/workflows">Go to workflows</ButtonLink>}
    >
      Publish a workflow and run it. Every run in the workspace appears here as it happens.
    </EmptyState>
  );
}
