'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { FileUp, Plus, SearchX, Sparkles, Workflow } from 'lucide-react';
import dynamic from 'next/dynamic';
import { usePermissions } from '../shell/session.tsx';
import { type FirstRead, useFirstRead } from '../trpc/first-read.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState } from '../ui/states.tsx';
import { StatusBadge, shownStatus } from '../ui/status-badge.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { loadingBeforeClick, useOpened } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { readStatus, type Status, workflowListInput } from './list-input.ts';
import { Sparkline } from './sparkline.tsx';
import { WorkflowActions, type WorkflowRow } from './workflow-actions.tsx';

const loadCreate = () => import('./create-dialog.tsx');
const CreateWorkflowDialog = dynamic(() => loadCreate().then(module => module.CreateWorkflowDialog), { ssr: false });
const loadImport = () => import('./import-dialog.tsx');
const ImportWorkflowDialog = dynamic(() => loadImport().then(module => module.ImportWorkflowDialog), { ssr: false });

const statusOptions = [
  { value: '', label: 'Active' },
  { value: 'draft', label: 'Draft' },
  { value: 'published', label: 'Published' },
  { value: 'archived', label: 'Archived' },
] as const;

const loadFirst = () => import('./first-workflow.tsx');
const FirstWorkflow = dynamic(() => loadFirst().then(module => module.FirstWorkflow), {
  ssr: false,
  loading: () => <Skeleton className="m-5 h-100" />,
});

type First = FirstRead<'workflows_list'> | null;

/** Every workflow of the project: search, filter, create, import, and what each did lately. */
export function WorkflowList({ first }: { first: First }) {
  const { get, set } = useUrlState();
  const { canWrite } = usePermissions();
  const q = get('q');
  const status = readStatus(get);
  return (
    <Page>
      <PageHeader
        title="Workflows"
        actions={
          <>
            <ButtonLink href="/workflows/proposals" icon={<Sparkles aria-hidden className="size-3.5" />}>
              Proposals
            </ButtonLink>
            {canWrite ? (
              <>
                <Button
                  icon={<FileUp aria-hidden className="size-3.5" />}
                  {...loadingBeforeClick(loadImport)}
                  onClick={() => set({ import: '1' })}
                >
                  Import
                </Button>
                <Button
                  variant="primary"
                  icon={<Plus aria-hidden className="size-3.5" />}
                  {...loadingBeforeClick(loadCreate)}
                  onClick={() => set({ create: '1' })}
                >
                  Create workflow
                </Button>
              </>
            ) : null}
          </>
        }
      />
      <FilterBar>
        <SearchInput label="Search workflows" value={q} onChange={value => set({ q: value, cursor: '' })} />
        <Select<Status | ''>
          label="Status"
          className="w-36"
          value={status}
          options={statusOptions}
          onChange={value => set({ status: value, cursor: '' }, { push: true })}
        />
      </FilterBar>
      <Rows first={first} />
      {canWrite ? <Dialogs /> : null}
    </Page>
  );
}

function Dialogs() {
  const { get, set } = useUrlState();
  const creates = get('create') === '1';
  const imports = get('import') === '1';
  const hasCreate = useOpened(creates);
  const hasImport = useOpened(imports);
  return (
    <>
      {hasCreate ? (
        <CreateWorkflowDialog
          key={get('template')}
          open={creates}
          from={get('template')}
          onOpenChange={open => set({ create: open ? '1' : '', template: '' })}
        />
      ) : null}
      {hasImport ? (
        <ImportWorkflowDialog open={imports} onOpenChange={open => set({ import: open ? '1' : '' })} />
      ) : null}
    </>
  );
}

function Rows({ first }: { first: First }) {
  const trpc = useTRPC();
  const input = workflowListInput(useUrlState().get);
  const { q, status, cursor } = input;
  const list = useQuery(
    trpc.workflows_list.queryOptions(input, {
      refetchInterval: 5_000,
      placeholderData: keepPreviousData,
      ...useFirstRead(first, input),
    }),
  );
  return (
    <ListCard
      label="Workflows"
      columns={['Name', 'Status', 'Version', 'Recent runs', 'Last run', 'Updated', '']}
      query={list}
      items={list.data?.workflows}
      next={list.data?.next_cursor}
      row={workflow => <Row key={workflow.id} workflow={workflow} />}
      empty={<Nothing filtered={Boolean(q || status || cursor)} />}
    />
  );
}

function Row({ workflow }: { workflow: WorkflowRow }) {
  const last = workflow.recent_runs[0];
  return (
    <Tr>
      <Td className="max-w-80 min-w-44">
        <Link href={`/workflows/${workflow.id}`} className="block truncate font-medium hover:underline">
          {workflow.name}
        </Link>
        {workflow.description ? (
          <span className="block truncate text-xs text-muted">{workflow.description.split('\n', 1)[0]}</span>
        ) : null}
      </Td>
      <Td>
        <StatusBadge kind="workflow" status={workflow.status} />
        {workflow.unpublished_changes ? (
          <span className="mt-0.5 block text-xs whitespace-nowrap text-warn">Unpublished changes</span>
        ) : null}
      </Td>
      <Td className="text-muted tabular-nums">
        {workflow.latest_version === null ? '—' : `v${workflow.latest_version}`}
      </Td>
      <Td>
        <Sparkline runs={workflow.recent_runs} />
      </Td>
      <Td>
        {last ? (
          <Link
            href={`/workflows/${workflow.id}/runs/${last.run_id}`}
            className="inline-flex items-center gap-2 hover:underline"
          >
            <StatusBadge kind="run" status={shownStatus(last)} />
            <RelativeTime at={last.started_at} />
          </Link>
        ) : (
          <span className="text-faint">—</span>
        )}
      </Td>
      <Td>
        <RelativeTime at={workflow.updated_at} />
      </Td>
      <Td className="w-10 text-right">
        <WorkflowActions workflow={workflow} />
      </Td>
    </Tr>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  const { set } = useUrlState();
  const { canWrite } = usePermissions();
  if (filtered)
    return (
      <EmptyState
        icon={SearchX}
        title="No workflow matches"
        action={<Button onClick={() => set({ q: '', status: '', cursor: '' })}>Clear filters</Button>}
      />
    );
  if (canWrite)
    return (
      <FirstWorkflow onCreate={template => set({ create: '1', template })} onImport={() => set({ import: '1' })} />
    );
  return (
    <EmptyState icon={Workflow} title="No workflows yet">
      You can only view this project. A contributor can create the first workflow.
    </EmptyState>
  );
}
