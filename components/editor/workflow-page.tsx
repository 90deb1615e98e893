'use client';
import { useQuery } from '@tanstack/react-query';
import { Play, Rocket } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { GraphStepInput } from '../graph/layout.ts';
import { WorkflowGraph } from '../graph/workflow-graph.tsx';
import { RunTable } from '../run-feed/run-table.tsx';
import { usePermissions } from '../shell/session.tsx';
import { useHotkeys } from '../shell/use-hotkeys.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { RunDialog } from '../workflows/run-dialog.tsx';
import { ConflictPanel } from './conflict-panel.tsx';
import { formatGraph } from './graph-text.ts';
import { JsonEditor, type JsonEditorHandle } from './json-editor.tsx';
import { ProblemList } from './problem-list.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import { SaveIndicator } from './save-indicator.tsx';
import { type Draft, type Problem, useDraft, useValidation, type Workflow } from './use-draft.ts';
import { useHistoryKeys } from './use-history-keys.ts';
import { VersionList } from './version-list.tsx';

/** One workflow: its draft as a graph and as JSON, its versions, its runs. */
export function WorkflowPage({ id }: { id: string }) {
  const trpc = useTRPC();
  const workflow = useQuery(trpc.workflows_get.queryOptions({ id }));
  if (workflow.isError && !workflow.data)
    return (
      <Page>
        <ErrorState error={workflow.error} onRetry={() => void workflow.refetch()} />
      </Page>
    );
  if (!workflow.data) return <PageSkeleton />;
  return <WorkflowView key={id} workflow={workflow.data} />;
}

type TabName = 'draft' | 'versions' | 'runs';
const tabNames: readonly TabName[] = ['draft', 'versions', 'runs'];

function WorkflowView({ workflow }: { workflow: Workflow }) {
  const url = useUrlState();
  const { canWrite } = usePermissions();
  const editable = canWrite && workflow.status !== 'archived';
  const draft = useDraft(workflow);
  const validation = useValidation(workflow.id, draft.state.draft.graph);
  const [publishing, setPublishing] = useState(false);
  const running = url.get('run') === '1';
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
          </span>
        }
        actions={
          editable ? (
            <>
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
      <Tabs
        label="Views of the workflow"
        value={tab}
        onChange={next => url.set({ tab: next === 'draft' ? undefined : next, cursor: undefined }, { push: true })}
        tabs={[
          {
            value: 'draft',
            label: 'Draft',
            content: <DraftView draft={draft} validation={validation} editable={editable} />,
          },
          {
            value: 'versions',
            label: 'Versions',
            content: <VersionList workflowId={workflow.id} latest={workflow.latest_version} draft={draft} />,
          },
          { value: 'runs', label: 'Runs', content: <RunTable workflowId={workflow.id} /> },
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
      <RunDialog workflow={running && runnable ? workflow : null} onClose={() => url.set({ run: undefined })} />
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

type DraftViewProps = { draft: Draft; validation: ReturnType<typeof useValidation>; editable: boolean };

/** The draft as a graph beside its JSON, with what is wrong shown in both. */
function DraftView({ draft, validation, editable }: DraftViewProps) {
  const url = useUrlState();
  const editor = useRef<JsonEditorHandle>(null);
  const selected = url.get('step') || null;
  const { graph } = draft.state.draft;
  const text = useMemo(() => draft.state.text ?? formatGraph(graph), [draft.state.text, graph]);
  useHistoryKeys(draft.store, editable);
  const counts = useMemo(() => countErrors(validation.problems), [validation.problems]);
  const jump = (problem: Pick<Problem, 'step_id' | 'path'>) => {
    if (problem.step_id) url.set({ step: problem.step_id });
    editor.current?.jumpTo(problem);
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-4 lg:grid-cols-2">
        <div className="h-[45dvh] sm:h-[60dvh]">
          <WorkflowGraph
            label="Graph of the draft"
            steps={graph.steps as readonly GraphStepInput[]}
            problems={counts}
            selected={selected}
            onSelect={step => {
              url.set({ step: step ?? undefined });
              if (step !== null) editor.current?.jumpTo({ step_id: step, path: '' });
            }}
          />
        </div>
        <div className="h-[60dvh] min-w-0">
          <JsonEditor
            label="Graph as JSON"
            value={text}
            onChange={next => draft.store.typeText(next)}
            ownHistory={false}
            readOnly={!editable}
            problems={validation.problems}
            handle={editor}
          />
        </div>
      </div>
      {editable ? <SaveIndicator draft={draft} /> : null}
      <ConflictPanel draft={draft} />
      {validation.error ? (
        <ErrorState title="The draft could not be checked" error={validation.error} />
      ) : (
        <ProblemList problems={validation.problems} checking={validation.checking} onJump={jump} />
      )}
    </div>
  );
}

function countErrors(problems: readonly Problem[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const problem of problems)
    if (problem.step_id !== null && problem.severity === 'error')
      counts.set(problem.step_id, (counts.get(problem.step_id) ?? 0) + 1);
  return counts;
}
