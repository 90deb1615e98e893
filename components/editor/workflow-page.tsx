'use client';
import { useQuery } from '@tanstack/react-query';
import { FlaskConical, Play, Rocket } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type ComponentProps, useState } from 'react';
import { ContinueRun } from '../runs/continue-run.tsx';
import { usePermissions, useSession } from '../shell/session.tsx';
import { useHotkeys } from '../shell/use-hotkeys.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { LazyMarkdown } from '../ui/lazy-markdown.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { loadingBeforeClick, useLoadedEarly, useOpened } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { OtherEditors } from './other-editors.tsx';
import { ShareLink } from './share-link.tsx';
import type { StepTypeForm } from './step-fields.ts';
import { type Draft, useDraft, useValidation, type Workflow } from './use-draft.ts';
import { useEditors } from './use-editors.ts';
import { useOtherWindow } from './use-other-window.ts';

// React Flow and the forms, which the other views of a workflow do without.
const DraftEditor = dynamic(() => import('./draft-editor.tsx').then(module => module.DraftEditor), {
  ssr: false,
  loading: () => <Skeleton className="h-[68dvh] w-full" />,
});

const loadVersions = () => import('./version-list.tsx');
const VersionList = dynamic(() => loadVersions().then(module => module.VersionList), {
  ssr: false,
  loading: () => <Skeleton className="h-40 w-full" />,
});
const loadRuns = () => import('./workflow-runs.tsx');
const WorkflowRuns = dynamic(() => loadRuns().then(module => module.WorkflowRuns), {
  ssr: false,
  loading: () => <Skeleton className="h-40 w-full" />,
});
const loadPublish = () => import('./publish-dialog.tsx');
const PublishDialog = dynamic(() => loadPublish().then(module => module.PublishDialog), { ssr: false });
const loadRun = () => import('../workflows/run-dialog.tsx');
const RunDialog = dynamic(() => loadRun().then(module => module.RunDialog), { ssr: false });

const loadViews = () => Promise.all([loadVersions(), loadRuns(), loadPublish(), loadRun()]);

/** One workflow: its draft as a graph and as JSON, its versions, its runs. */
export function WorkflowPage({ id, stepTypes }: { id: string; stepTypes: readonly StepTypeForm[] }) {
  const trpc = useTRPC();
  const workflow = useQuery(trpc.workflows_get.queryOptions({ id }));
  useLoadedEarly(loadViews);
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
  const validation = useValidation(workflow.id, draft.state.draft.graph, canWrite);
  const [publishing, setPublishing] = useState(false);
  const running = url.get('run');
  const runnable = editable && workflow.latest_version !== null;
  const tab = tabNames.find(name => name === url.get('tab')) ?? 'draft';
  const errors = validation.problems.filter(problem => problem.severity === 'error').length;
  const others = useEditors(workflow.id, draft.store, editable && tab === 'draft');
  const otherWindow = useOtherWindow(useSession().me.user.id, workflow.id, editable && tab === 'draft');
  useKeys(draft, editable);
  return (
    <Page>
      <PageHeader
        parent={{ href: '/workflows', label: 'Workflows' }}
        title={<Title workflow={workflow} />}
        actions={
          editable ? (
            <>
              <Button
                icon={<FlaskConical aria-hidden className="size-3.5" />}
                title="Run the draft without publishing it"
                {...loadingBeforeClick(loadRun)}
                onClick={() => url.set({ run: 'test' })}
              >
                Test run
              </Button>
              <Button
                icon={<Rocket aria-hidden className="size-3.5" />}
                {...loadingBeforeClick(loadPublish)}
                onClick={() => setPublishing(true)}
              >
                Publish
              </Button>
              <Button
                variant="primary"
                icon={<Play aria-hidden className="size-3.5" />}
                disabled={!runnable}
                {...loadingBeforeClick(loadRun)}
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
          <ShareLink />
          <OtherEditors people={others} otherWindow={otherWindow} />
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
            content: <WorkflowRuns workflowId={workflow.id} />,
          },
        ]}
      />
      <Publish
        open={publishing}
        onOpenChange={setPublishing}
        workflowId={workflow.id}
        nextVersion={(workflow.latest_version ?? 0) + 1}
        draft={draft}
        errors={errors}
      />
      <RunDialogs
        started={running === '1' && runnable ? workflow : null}
        tested={running === 'test' && editable ? workflow : null}
        draft={draft}
      />
    </Page>
  );
}

function useKeys(draft: Draft, editable: boolean): void {
  const url = useUrlState();
  const { agents } = useSession().me;
  useHotkeys({ 'mod+s': () => void draft.save() }, editable);
  // Here the conversation is beside the graph, not over it.
  useHotkeys({ 'mod+j': () => url.set({ tab: undefined, panel: 'autopilot', proposal: undefined }) }, agents);
}

/** Its name, and the state in which it is. */
function Title({ workflow }: { workflow: Workflow }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      {workflow.name}
      <StatusBadge kind="workflow" status={workflow.status} />
      {workflow.latest_version !== null ? (
        <span className="text-sm font-normal text-muted tabular-nums">v{workflow.latest_version}</span>
      ) : null}
      <Unpublished workflow={workflow} />
    </span>
  );
}

function Publish(props: ComponentProps<typeof PublishDialog>) {
  return useOpened(props.open) ? <PublishDialog {...props} /> : null;
}

/** The dialogs of a run of the latest version and of a test run; each is open while it is given the workflow. */
function RunDialogs({ started, tested, draft }: Record<'started' | 'tested', Workflow | null> & { draft: Draft }) {
  const url = useUrlState();
  const hasRun = useOpened(started !== null);
  const hasTest = useOpened(tested !== null);
  const close = () => url.set({ run: undefined });
  return (
    <>
      {hasRun ? <RunDialog workflow={started} onClose={close} /> : null}
      {hasTest ? (
        <RunDialog workflow={tested} onClose={close} saveDraft={async () => (await draft.save()).kind === 'saved'} />
      ) : null}
    </>
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
        <LazyMarkdown text={text} />
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
