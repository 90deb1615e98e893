'use client';
import { useQuery } from '@tanstack/react-query';
import dynamic from 'next/dynamic';
import { type ComponentProps, useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { FullBleed, Page, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { TabContent, TabsRoot } from '../ui/tabs.tsx';
import { useHotkeys } from '../ui/use-hotkeys.ts';
import { useLoadedEarly, useOpened } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { type TabName, WorkflowBar } from './bar/workflow-bar.tsx';
import type { StepTypeForm } from './step-fields.ts';
import { type Draft, useDraft, useValidation, type Workflow } from './use-draft.ts';
import { useEditors } from './use-editors.ts';
import { useOtherWindow } from './use-other-window.ts';

// Loaded separately, with React Flow and the forms, which the other views of a workflow do not need.
const DraftEditor = dynamic(() => import('./draft-editor.tsx').then(module => module.DraftEditor), {
  ssr: false,
  loading: () => <Skeleton className="m-4 h-[60dvh]" />,
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
const ContinueRun = dynamic(() => import('../runs/continue-run.tsx').then(module => module.ContinueRun), {
  ssr: false,
});
const loadPublish = () => import('./publish-dialog.tsx');
const PublishDialog = dynamic(() => loadPublish().then(module => module.PublishDialog), { ssr: false });
const loadRun = () => import('../workflows/run-dialog.tsx');
const RunDialog = dynamic(() => loadRun().then(module => module.RunDialog), { ssr: false });

const loadViews = () => Promise.all([loadVersions(), loadRuns(), loadPublish(), loadRun()]);

/** The page of a workflow: its draft as a graph and as JSON, its versions and its runs. */
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
  useEditorKeys(draft, editable);
  return (
    <FullBleed>
      <TabsRoot
        value={tab}
        onChange={next => url.set({ tab: next === 'draft' ? undefined : next, cursor: undefined }, { push: true })}
        className="flex min-h-0 flex-1 flex-col"
      >
        <WorkflowBar
          {...{ workflow, draft, editable, canWrite, runnable, others, otherWindow, loadPublish, loadRun }}
          onTest={() => url.set({ run: 'test' })}
          onPublish={() => setPublishing(true)}
          onRun={() => url.set({ run: '1' })}
        />
        {editable && url.get('continue') ? (
          <ContinueRun workflowId={workflow.id} steps={draft.state.draft.graph.steps} save={draft.save} />
        ) : null}
        <TabContent value="draft" className="flex min-h-0 flex-1 flex-col">
          <DraftEditor
            workflowId={workflow.id}
            draft={draft}
            validation={validation}
            stepTypes={stepTypes}
            editable={editable}
          />
        </TabContent>
        <TabContent value="versions" className={listClass}>
          <VersionList workflowId={workflow.id} latest={workflow.latest_version} draft={draft} />
        </TabContent>
        <TabContent value="runs" className={listClass}>
          <WorkflowRuns workflowId={workflow.id} />
        </TabContent>
      </TabsRoot>
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
    </FullBleed>
  );
}

/** The lists of versions and runs scroll below the bar. */
const listClass = 'min-h-0 flex-1 overflow-y-auto px-4 py-5 sm:px-6';

function useEditorKeys(draft: Draft, editable: boolean): void {
  const url = useUrlState();
  const { agents } = useSession().me;
  useHotkeys({ 'mod+s': () => void draft.save() }, editable);
  // On this page, the conversation opens beside the graph, not over it.
  useHotkeys({ 'mod+j': () => url.set({ tab: undefined, panel: 'autopilot', proposal: undefined }) }, agents);
}

function Publish(props: ComponentProps<typeof PublishDialog>) {
  return useOpened(props.open) ? <PublishDialog {...props} /> : null;
}

/** The dialogs of a run of the latest version and of a test run. Each dialog is open while its workflow is set. */
function RunDialogs({ started, tested, draft }: Record<'started' | 'tested', Workflow | null> & { draft: Draft }) {
  const url = useUrlState();
  const hasRun = useOpened(started !== null);
  const hasTest = useOpened(tested !== null);
  const close = () => url.set({ run: undefined });
  return (
    <>
      {hasRun ? <RunDialog workflow={started} onClose={close} /> : null}
      {hasTest ? (
        <RunDialog
          workflow={tested}
          onClose={close}
          saveDraft={async () => (await draft.save()).kind === 'saved'}
          onStarted={runId => url.set({ run: undefined, tab: undefined, loop: undefined, panel: 'run', over: runId })}
        />
      ) : null}
    </>
  );
}
