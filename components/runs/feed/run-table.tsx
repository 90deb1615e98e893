'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { SearchX, Waypoints } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type FirstRead, useFirstRead } from '../../session/first-read.ts';
import { usePermissions, useSession } from '../../session/session.tsx';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy.tsx';
import { Credits } from '../../ui/credits.tsx';
import { Link } from '../../ui/link.tsx';
import { ListCard } from '../../ui/list-card.tsx';
import { SELECT, SelectAll, SelectBox } from '../../ui/select-box.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StatusBadge, shownStatus } from '../../ui/status-badge.tsx';
import { Td, Tr } from '../../ui/table.tsx';
import { Duration, RelativeTime } from '../../ui/time.tsx';
import { type Selection, useSelection } from '../../ui/use-selection.ts';
import { useUrlState } from '../../ui/use-url-state.ts';
import { ColumnMenu, NUMBERS, useColumns } from './columns.tsx';
import { readRunFilters, runListInput } from './read-run-filters.ts';

const loadBulkBar = () => import('./bulk-bar.tsx');
const BulkBar = dynamic(() => loadBulkBar().then(module => module.BulkBar), { ssr: false });

const ViewMenu = dynamic(() => import('./view-menu.tsx').then(module => module.ViewMenu), {
  ssr: false,
  loading: () => <Skeleton className="h-7 w-20" />,
});

type Run = Outputs['runs_list_tenant']['runs'][number];

export type FirstRuns = FirstRead<'runs_list_tenant'> | null;

/**
 * Lists the runs of the tenant or of one workflow, newest first, with live updates. Filters and the page are in the URL. People who
 * may run workflows can select runs for bulk actions.
 */
export function RunTable({ workflowId, first }: { workflowId?: string; first?: FirstRuns }) {
  const trpc = useTRPC();
  const { get } = useUrlState();
  const { canWrite } = usePermissions();
  const { project } = useSession().scope;
  const filters = readRunFilters(get, workflowId);
  const cursor = get('cursor');
  const input = runListInput(get, filters);
  const list = useQuery(
    trpc.runs_list_tenant.queryOptions(input, {
      refetchInterval: 3_000,
      placeholderData: keepPreviousData,
      ...useFirstRead(first, input),
    }),
  );
  const runs = list.data?.runs;
  // A bulk action applies to one project.
  const selectable = canWrite ? (runs ?? []).filter(run => run.project_id === project).map(run => run.run_id) : [];
  const selection = useSelection(JSON.stringify(filters), selectable);
  const columns = useColumns(runs);
  const filtered = Object.keys(filters).length > (workflowId === undefined ? 0 : 1) || get('kind') !== '';
  return (
    <>
      <div className="mb-2 flex min-h-8 flex-wrap items-center gap-2">
        {canWrite ? <BulkBar selection={selection} workflowId={workflowId} /> : null}
        <span className="ml-auto flex gap-1">
          {workflowId === undefined ? <ViewMenu columns={columns} /> : null}
          <ColumnMenu columns={columns} />
        </span>
      </div>
      <ListCard
        label="Runs"
        columns={[...(canWrite ? [SELECT] : []), 'Workflow', ...columns.shown]}
        headings={{
          [SELECT]: <SelectAll label="Select the runs of this page" selection={selection} ids={selectable} />,
        }}
        numbers={NUMBERS}
        query={list}
        items={runs}
        next={list.data?.next_cursor}
        row={run => (
          <Row
            key={run.run_id}
            run={run}
            columns={columns.shown}
            selection={canWrite ? selection : null}
            isSelectable={run.project_id === project}
          />
        )}
        empty={<Nothing filtered={filtered || cursor !== ''} />}
      />
    </>
  );
}

type RowProps = { run: Run; columns: readonly string[]; selection: Selection | null; isSelectable: boolean };

function Row({ run, columns, selection, isSelectable }: RowProps) {
  const href = `/workflows/${run.workflow_id}/runs/${run.run_id}`;
  return (
    <Tr>
      {selection === null ? null : (
        <Td className="w-8 pr-0">
          <SelectBox
            label={`Select run ${run.run_id.slice(0, 8)}`}
            checked={selection.ids.has(run.run_id)}
            disabled={!isSelectable}
            onChange={checked => selection.set([run.run_id], checked)}
          />
        </Td>
      )}
      <Td className="card-title max-w-72 min-w-40">
        <Link href={href} className="block truncate font-medium hover:underline">
          {run.workflow_name}
        </Link>
        {run.error ? (
          <span className="block truncate text-xs text-bad" title={`${run.error.step_id}: ${run.error.message}`}>
            {run.failed_step_name ?? run.error.step_id}: {run.error.message}
          </span>
        ) : null}
      </Td>
      {columns.map(column => (
        <Cell key={column} column={column} run={run} />
      ))}
    </Tr>
  );
}

function Cell({ column, run }: { column: string; run: Run }) {
  switch (column) {
    case 'Status':
      return (
        <Td>
          <StatusBadge kind="run" status={shownStatus(run)} />
        </Td>
      );
    case 'Progress':
      return (
        <Td>
          <Progress done={run.steps_done} skipped={run.steps_skipped} total={run.steps_total} />
        </Td>
      );
    case 'Trigger':
      return (
        <Td className="whitespace-nowrap text-muted">
          {run.trigger_type} <span className="text-faint">{run.test ? 'draft' : `v${run.version}`}</span>
          {run.rerun_of === null ? null : (
            <span title="Repeats or continues another run" className="text-faint">
              {' '}
              · rerun
            </span>
          )}
        </Td>
      );
    case 'Started':
      return (
        <Td>
          <RelativeTime at={run.started_at} />
        </Td>
      );
    case 'Duration':
      return (
        <Td className="text-right">
          <Duration from={run.started_at} to={run.ended_at} />
        </Td>
      );
    case 'Credits':
      return (
        <Td className="text-right">
          <Credits value={run.credits_microcredits} className="whitespace-nowrap text-muted tabular-nums" />
        </Td>
      );
    case 'Run':
      return (
        <Td className="whitespace-nowrap">
          <CopyId id={run.run_id} />
        </Td>
      );
    default:
      return <Td className="max-w-48 truncate text-muted">{run.search_values[column] ?? ''}</Td>;
  }
}

type ProgressProps = { done: number; skipped: number; total: number };

/** Shows how many steps have ended, without those that were skipped or reused. */
function Progress({ done, skipped, total }: ProgressProps) {
  const [ran, all] = [done - skipped, total - skipped];
  const percent = all === 0 ? 100 : Math.round((ran / all) * 100);
  return (
    <span className="flex items-center gap-2 whitespace-nowrap text-muted tabular-nums">
      <span aria-hidden className="h-1 w-14 overflow-hidden rounded-full bg-active">
        <span className="block h-full bg-muted" style={{ width: `${percent}%` }} />
      </span>
      {ran}/{all}
      <span className="sr-only"> steps ran{skipped > 0 ? `, ${skipped} skipped` : ''}</span>
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
