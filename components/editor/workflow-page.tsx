'use client';
import { useQuery } from '@tanstack/react-query';
import { FlaskConical, Play, Rocket } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { RunKindSelect } from '../run-feed/run-filters.tsx';
import { RunTable } from '../run-feed/run-table.tsx';
import { ContinueRun } from '../runs/continue-run.tsx';
import { usePermissions } from '../shell/session.tsx';
import { useHotkeys } from '../shell/use-hotkeys.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { RunDialog } from '../workflows/run-dialog.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import type { StepTypeForm } from './step-fields.ts';
import { useDraft, useValidation, type Workflow } from './use-draft.ts';
import { VersionList } from './version-list.tsx';

// React Flow and the forms, which the other views of a workflow do without.
const DraftEditor = dynamic(() => import('./draft-editor.tsx').then(module => module.DraftEditor), {
  ssr: false,
  loading: () => <Skeleton className="h-[68dvh] w-full" />,
});

/** One workflow: its draft as a graph and as JSON, its versions, its runs. */
export function WorkflowPage({ id, stepTypes }: { id: string; stepTypes: readonly StepTypeForm[] }) {
  const trpc = useTRPC();
  const workflow = useQuery(trpc.workflows_get.queryOptions({ id }));
  if (workflow.isError && !workflow.data)
    return (
      <Page>
        <ErrorState error={workflow.error} onRetry={() => void workflow.refetch()} />
      </Page>
    );
  if (!workflow.data) return <PageSkeleton />;
  return <WorkflowView key={id} workflow={workflow.data} stepTypes={stepTypes} />;
}

type TabName = 'draft' | 'versions' | 'runs';
const tabNames: readonly TabName[] = ['draft', 'versions', 'runs'];

function WorkflowView({ workflow, stepTypes }: { workflow: Workflow; stepTypes: readonly StepTypeForm[] }) {
  const url = useUrlState();
  const { canWrite } = usePermissions();
  const editable = canWrite && workflow.status !== 'archived';
  const draft = useDraft(workflow);
  const validation = useValidation(workflow.id, draft.state.draft.graph);
  const [publishing, setPublishing] = useState(false);
  const running = url.get('run');
  const runnable = editable && workflow.latest_version !== null;
  const tab = tabNames.find(name => name === url.get('tab')) ?? 'draft';
  const errors = validation.problems.filter(problem => problem.severity === 'error').length;
  useHotkeys({ 'mod+s': () => void draft.save() }, editable);
  return (
    <Page>
      <PageHeader
        parent={{ href: '/workflows', label: 'Workflows' }}
        title={
          <span className="flex flex-wrap items-center gap-2">
            {workflow.name}
            <StatusBadge kind="workflow" status={workflow.status} />
            {workflow.latest_version !== null ? (
              <span className="text-sm font-normal text-muted tabular-nums">v{workflow.latest_version}</span>
            ) : null}
            <Unpublished workflow={workflow} />
          </span>
        }
        actions={
          editable ? (
            <>
              <Button
                icon={<FlaskConical aria-hidden className="size-3.5" />}
                title="Run the draft without publishing it"
                onClick={() => url.set({ run: 'test' })}
              >
                Test run
              </Button>
              <Button icon={<Rocket aria-hidden className="size-3.5" />} onClick={() => setPublishing(true)}>
                Publish
              </Button>
              <Button
                variant="primary"
                icon={<Play aria-hidden className="size-3.5" />}
                disabled={!runnable}
                title={runnable ? undefined : 'Publish the workflow first: runs use a published version.'}
                onClick={() => url.set({ run: '1' })}
              >
                Run
              </Button>
            </>
          ) : null
        }
      />
      <div className="mb-4 flex flex-col gap-1 text-sm text-muted">
        <Description text={workflow.description} />
        <p className="flex flex-wrap items-center gap-x-3 text-xs">
          <span>
            Changed <RelativeTime at={workflow.updated_at} />
          </span>
          <CopyId id={workflow.id} />
        </p>
      </div>
      {editable ? <ContinueRun workflowId={workflow.id} save={draft.save} /> : null}
      <Tabs
        label="Views of the workflow"
        value={tab}
        onChange={next => url.set({ tab: next === 'draft' ? undefined : next, cursor: undefined }, { push: true })}
        tabs={[
          {
            value: 'draft',
            label: 'Draft',
            content: (
              <DraftEditor
                workflowId={workflow.id}
                draft={draft}
                validation={validation}
                stepTypes={stepTypes}
                editable={editable}
              />
            ),
          },
          {
            value: 'versions',
            label: 'Versions',
            content: <VersionList workflowId={workflow.id} latest={workflow.latest_version} draft={draft} />,
          },
          {
            value: 'runs',
            label: 'Runs',
            content: (
              <>
                <div className="mb-3">
                  <RunKindSelect />
                </div>
                <RunTable workflowId={workflow.id} />
              </>
            ),
          },
        ]}
      />
      <PublishDialog
        open={publishing}
        onOpenChange={setPublishing}
        workflowId={workflow.id}
        nextVersion={(workflow.latest_version ?? 0) + 1}
        draft={draft}
        errors={errors}
      />
      <RunDialog workflow={running === '1' && runnable ? workflow : null} onClose={() => url.set({ run: undefined })} />
      <RunDialog
        workflow={running === 'test' && editable ? workflow : null}
        onClose={() => url.set({ run: undefined })}
        saveDraft={async () => (await draft.save()).kind === 'saved'}
      />
    </Page>
  );
}

/** The beginning of the description, with the rest a click away: the graph is what people come for. */
function Description({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  if (!text) return null;
  const long = text.length > 200 || text.trim().split('\n').length > 2;
  return (
    <div>
      <div className={long && !open ? 'max-h-5 overflow-hidden' : undefined}>
        <Markdown text={text} />
      </div>
      {long ? (
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="text-xs text-accent-text hover:underline"
        >
          {open ? 'Less' : 'More'}
        </button>
      ) : null}
    </div>
  );
}

/** Says that the draft is not what new runs use. */
function Unpublished({ workflow }: { workflow: Workflow }) {
  const trpc = useTRPC();
  const latest = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflow.id, version: workflow.latest_version ?? 1 },
      { enabled: workflow.latest_version !== null, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  if (!latest.data || latest.data.graph_checksum === workflow.graph_checksum) return null;
  return <Badge tone="warn">Unpublished changes</Badge>;
}
