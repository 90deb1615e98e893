'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { FileUp, Folder, Plus, SearchX, Sparkles, Workflow } from 'lucide-react';
import dynamic from 'next/dynamic';
import type { ReactNode } from 'react';
import { type FirstRead, useFirstRead } from '../session/first-read.ts';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import { Link } from '../ui/link.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { SELECT, SelectAll, SelectBox } from '../ui/select-box.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState } from '../ui/states.tsx';
import { StatusBadge, shownStatus } from '../ui/status-badge.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { loadingBeforeClick, useOpened } from '../ui/use-opened.ts';
import { type Selection, useSelection } from '../ui/use-selection.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { dragWorkflows } from './dragging.ts';
import { FolderBar, TagMenu } from './folder-bar.tsx';
import { pathFrom, pathLabel } from './folder-paths.ts';
import { readStatus, readTags, type Status, workflowListInput } from './list-input.ts';
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

const loadSelected = () => import('./selected-workflows.tsx');
const SelectedWorkflows = dynamic(() => loadSelected().then(module => module.SelectedWorkflows), { ssr: false });

type First = FirstRead<'workflows_list'> | null;
type FirstFolders = FirstRead<'workflows_list_folders'> | null;

/** The workflows of the project, with search, filters, folders, tags, create, import, and their latest runs. */
export function WorkflowList({ first, folders }: { first: First; folders: FirstFolders }) {
  const { get, set } = useUrlState();
  const trpc = useTRPC();
  const read = useQuery(trpc.workflows_list_folders.queryOptions({}, useFirstRead(folders, {})));
  const places = read.data ?? { folders: [], tags: [] };
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
        <TagMenu tags={places.tags} />
      </FilterBar>
      <FolderBar places={places} />
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
  const { canWrite } = usePermissions();
  const input = workflowListInput(useUrlState().get);
  const { q, status, folder, tags, cursor } = input;
  const list = useQuery(
    trpc.workflows_list.queryOptions(input, {
      refetchInterval: 5_000,
      placeholderData: keepPreviousData,
      ...useFirstRead(first, input),
    }),
  );
  const workflows = list.data?.workflows;
  const ids = (workflows ?? []).map(({ id }) => id);
  const selection = useSelection(JSON.stringify(input), ids);
  const selected = (workflows ?? []).filter(({ id }) => selection.ids.has(id));
  return (
    <>
      {selected.length > 0 ? <SelectedWorkflows workflows={selected} onClear={selection.clear} /> : null}
      <ListCard
        label="Workflows"
        columns={[...(canWrite ? [SELECT] : []), ...COLUMNS]}
        headings={{ [SELECT]: <SelectAll label="Select the workflows of this page" selection={selection} ids={ids} /> }}
        query={list}
        items={workflows}
        next={list.data?.next_cursor}
        row={workflow => (
          <Row key={workflow.id} workflow={workflow} selection={canWrite ? selection : null} shown={folder ?? ''} />
        )}
        empty={<Nothing filtered={Boolean(q || status || folder || tags || cursor)} />}
      />
    </>
  );
}

const COLUMNS = ['Name', 'Status', 'Version', 'Recent runs', 'Last run', 'Updated', ''];

type RowProps = { workflow: WorkflowRow; selection: Selection | null; shown: string };

function Row({ workflow, selection, shown }: RowProps) {
  const last = workflow.recent_runs[0];
  const dragged = selection?.ids.has(workflow.id) ? [...selection.ids] : [workflow.id];
  return (
    <Tr draggable={selection !== null} onDragStart={event => dragWorkflows(event, dragged)}>
      {selection === null ? null : (
        <Td className="w-8 pr-0">
          <SelectBox
            label={`Select ${workflow.name}`}
            checked={selection.ids.has(workflow.id)}
            disabled={false}
            onChange={checked => selection.set([workflow.id], checked)}
          />
        </Td>
      )}
      <Td className="card-title max-w-80 min-w-44">
        <Link href={`/workflows/${workflow.id}`} className="block truncate font-medium hover:underline">
          {workflow.name}
        </Link>
        {workflow.description ? (
          <span className="block truncate text-xs text-muted">{workflow.description.split('\n', 1)[0]}</span>
        ) : null}
        <Place workflow={workflow} shown={shown} />
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

/** The tags of a workflow, and its folder unless it is the current one. Each is a filter. */
function Place({ workflow: { folder, tags }, shown }: { workflow: WorkflowRow; shown: string }) {
  const { get, set } = useUrlState();
  const path = pathFrom(shown, folder);
  if (path === '' && tags.length === 0) return null;
  const chosen = readTags(get);
  const filter = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  return (
    <span className="mt-0.5 mb-1 flex flex-wrap gap-1">
      {path === '' ? null : (
        <Chip label={`Show the folder ${folder}`} onClick={() => filter({ folder })}>
          <Folder aria-hidden className="size-3 shrink-0" />
          <span className="truncate">{pathLabel(path)}</span>
        </Chip>
      )}
      {tags.map(tag => (
        <Chip
          key={tag}
          label={`Show workflows with the tag ${tag}`}
          onClick={() => filter({ tags: [...new Set([...chosen, tag])].join() })}
        >
          <span className="truncate">{tag}</span>
        </Chip>
      ))}
    </span>
  );
}

function Chip({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      title={label}
      onClick={onClick}
      className="inline-flex h-5 max-w-40 items-center gap-1 rounded-sm bg-hover px-1.5 text-xs text-muted hover:bg-active"
    >
      {children}
    </button>
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
        action={
          <Button onClick={() => set({ q: '', status: '', folder: '', tags: '', cursor: '' })}>Clear filters</Button>
        }
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
