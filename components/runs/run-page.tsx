'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CloudOff, Unplug } from 'lucide-react';
import { type ReactNode, useEffect, useMemo } from 'react';
import type { RunStatus } from '@/server/orchestrator/core/events.ts';
import type { Json } from '@/server/platform/json.ts';
import { type StepDisplay, WorkflowGraph } from '../graph/workflow-graph.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { CopyId } from '../ui/copy.tsx';
import { Credits } from '../ui/credits.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Page, PageHeader, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Duration, RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { CreditShortage, shortageOf } from './credit-shortage.tsx';
import { EventList } from './event-list.tsx';
import { RunActions } from './run-actions.tsx';
import { isTerminal, type RunView, stepOutcomeLabel } from './run-view.ts';
import { LargeValue, StepInspector } from './step-inspector.tsx';
import { type LiveRun, useRun } from './use-run.ts';

type Summary = Outputs['runs_get_summary'];
type Version = Outputs['workflows_get_version'];

/** One run: its state, its graph and its events, live. */
export function RunPage({ workflowId, runId }: { workflowId: string; runId: string }) {
  const trpc = useTRPC();
  const summary = useQuery(trpc.runs_get_summary.queryOptions({ id: workflowId, runID: runId }));
  const number = summary.data?.version;
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflowId, version: number ?? 1 },
      // A version never changes.
      { enabled: number !== undefined, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const failed = summary.error ?? version.error;
  if (failed)
    return (
      <Page>
        <ErrorState error={failed} onRetry={() => void (summary.isError ? summary.refetch() : version.refetch())} />
      </Page>
    );
  if (!summary.data || !version.data) return <PageSkeleton />;
  return <Run key={runId} summary={summary.data} version={version.data} />;
}

const tabNames = ['graph', 'events', 'data'] as const;

function Run({ summary, version }: { summary: Summary; version: Version }) {
  const workflowId = summary.workflow_id;
  const runId = summary.run_id;
  const steps = version.graph_snapshot.steps;
  const stepIds = useMemo(() => steps.map(step => step.id), [steps]);
  const live = useRun(workflowId, runId, stepIds);
  const url = useUrlState();
  const selected = url.get('step') || null;
  useFreshSummary(summary, live);
  const view = live && live.view.lastSeq > 0 ? live.view : null;
  const status = view?.status ?? summary.status;
  const spec = steps.find(step => step.id === selected);
  const select = (step: string | null) => url.set({ step: step ?? undefined });
  const inspected = view && spec ? view.steps.get(spec.id) : undefined;
  const tab = tabNames.find(name => name === url.get('tab')) ?? 'graph';
  const shortage = shortageOf(view, (view?.error ?? summary.error)?.code);
  const beside = inspected !== undefined || tab === 'graph';

  return (
    <Page>
      <PageHeader
        parent={{ href: `/workflows/${workflowId}`, label: summary.workflow_name }}
        title={
          <span className="flex flex-wrap items-center gap-2">
            Run
            <StatusBadge kind="run" status={headline(summary, status)} />
            {view?.stopping && !isTerminal(status) ? (
              <span className="text-sm font-normal text-muted">stopping…</span>
            ) : null}
          </span>
        }
        actions={
          <RunActions
            workflowId={workflowId}
            runId={runId}
            status={status}
            stopping={view?.stopping ?? summary.orchestration_phase === 'draining'}
            selected={selected}
          />
        }
      />
      <Facts summary={summary} status={status} view={view} />
      {live ? <Connection live={live} ended={isTerminal(status)} /> : null}
      {shortage ? <CreditShortage kind={shortage} className="mb-4" /> : null}
      <RunFailure view={view} summary={summary} onSelect={select} />
      <div className={cx('grid gap-4', beside && 'lg:grid-cols-[minmax(0,1fr)_380px]')}>
        <Tabs
          label="Views of the run"
          value={tab}
          onChange={next => url.set({ tab: next === 'graph' ? undefined : next }, { push: true })}
          tabs={[
            {
              value: 'graph',
              label: 'Graph',
              content: <RunGraph steps={steps} live={live} selected={selected} onSelect={select} />,
            },
            {
              value: 'events',
              label: 'Events',
              content: (
                <div className="h-[65dvh]">
                  <EventList
                    events={live?.view.events ?? []}
                    revision={live?.revision ?? 0}
                    stepIds={stepIds}
                    step={url.get('of')}
                    failuresOnly={url.get('failures') === '1'}
                    onFilter={filter =>
                      url.set({
                        ...(filter.step === undefined ? {} : { of: filter.step || undefined }),
                        ...(filter.failuresOnly === undefined
                          ? {}
                          : { failures: filter.failuresOnly ? '1' : undefined }),
                      })
                    }
                    onSelect={select}
                  />
                </div>
              ),
            },
            { value: 'data', label: 'Input', content: <RunInput workflowId={workflowId} runId={runId} view={view} /> },
          ]}
        />
        {inspected && spec ? (
          <div className="min-w-0 lg:pt-13">
            <StepInspector
              workflowId={workflowId}
              runId={runId}
              step={inspected}
              spec={spec}
              onClose={() => select(null)}
            />
          </div>
        ) : tab === 'graph' ? (
          <div className="min-w-0 lg:pt-13">
            <StepList steps={steps} view={view} onSelect={select} />
          </div>
        ) : null}
      </div>
    </Page>
  );
}

/** `blocked` is a phase, not a status, but it is what the person wants to know. */
function headline(summary: Summary, status: RunStatus): string {
  return status === 'running' && summary.orchestration_phase === 'blocked' ? 'blocked' : status;
}

/** The summary holds what events do not say (phase, credits): it is read again when the run's state moved on. */
function useFreshSummary(summary: Summary, live: LiveRun | null): void {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const seq = live?.view.lastSeq ?? 0;
  const waiting = live ? [...live.view.steps.values()].filter(step => step.status === 'waiting').length : 0;
  const key = `${live?.view.status ?? ''}:${waiting}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says when the phase may have changed; `seq` alone changes far more often
  useEffect(() => {
    if (seq > summary.last_seq)
      void queryClient.invalidateQueries({
        queryKey: trpc.runs_get_summary.queryKey({ id: summary.workflow_id, runID: summary.run_id }),
      });
  }, [key]);
}

function Facts({ summary, status, view }: { summary: Summary; status: RunStatus; view: RunView | null }) {
  const ended = view?.endedAt ? new Date(view.endedAt).toISOString() : summary.ended_at;
  const done = view ? [...view.steps.values()].filter(step => step.endedAt !== null).length : summary.steps_done;
  const facts: [string, ReactNode][] = [
    ['Started', <RelativeTime key="at" at={summary.started_at} />],
    [
      'Duration',
      <Duration key="for" from={summary.started_at} to={isTerminal(status) ? (ended ?? summary.started_at) : null} />,
    ],
    ['Steps', `${done} of ${summary.steps_total}`],
    ['Version', `v${summary.version}`],
    ['Trigger', summary.trigger_type],
    ['By', summary.started_by],
    // The events say it live; the summary before they have come.
    ['Credits', <Credits key="credits" value={view?.credits ?? summary.credits_microcredits} />],
    ['Run', <CopyId key="id" id={summary.run_id} />],
  ];
  return (
    <dl className="mb-4 flex flex-wrap gap-x-6 gap-y-2 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="flex min-w-0 flex-col">
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="truncate text-muted tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Says so while the page is not live; silent otherwise. */
function Connection({ live, ended }: { live: LiveRun; ended: boolean }) {
  if (ended || live.stream === 'live' || live.stream === 'connecting' || live.stream === 'closed') return null;
  const refused = live.stream === 'refused';
  const Icon = refused ? CloudOff : Unplug;
  return (
    <p role="status" className="mb-3 flex items-center gap-2 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
      <Icon aria-hidden className="size-4" />
      {refused
        ? 'You no longer have access to this run. You see its last known state.'
        : 'The connection was lost. Reconnecting; no events are lost.'}
    </p>
  );
}

function RunFailure({
  view,
  summary,
  onSelect,
}: {
  view: RunView | null;
  summary: Summary;
  onSelect: (step: string) => void;
}) {
  const error = view?.error ?? summary.error;
  if (!error) return null;
  return (
    <div
      role="alert"
      className="mb-4 rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
    >
      <button
        type="button"
        className="font-medium underline underline-offset-2"
        onClick={() => onSelect(error.step_id)}
      >
        {error.step_id}
      </button>{' '}
      failed: <span className="whitespace-pre-wrap">{error.message}</span>
    </div>
  );
}

type Steps = Version['graph_snapshot']['steps'];

function RunGraph({
  steps,
  live,
  selected,
  onSelect,
}: {
  steps: Steps;
  live: LiveRun | null;
  selected: string | null;
  onSelect: (step: string | null) => void;
}) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is changed in place; `revision` says when
  const displays = useMemo(() => {
    const all = new Map<string, StepDisplay>();
    for (const step of live?.view.steps.values() ?? []) {
      const { status, attempts, task } = step;
      all.set(step.id, { status, label: stepOutcomeLabel(step), attempt: attempts.length, title: task?.name });
    }
    return all;
  }, [live?.view, live?.revision]);
  return (
    <div className="h-[45dvh] sm:h-[68dvh]">
      <WorkflowGraph
        label="Graph of the run"
        steps={steps}
        displays={displays}
        selected={selected}
        onSelect={onSelect}
      />
    </div>
  );
}

function RunInput({ workflowId, runId, view }: { workflowId: string; runId: string; view: RunView | null }) {
  if (view?.inputRef)
    return <LargeValue workflowId={workflowId} runId={runId} title="Input" reference={view.inputRef} />;
  if (!view) return <Skeleton className="h-40 w-full" />;
  return <JsonTree label="Input" value={(view.input ?? {}) as Json} />;
}

/** All steps as a list: the way to one by keyboard or on a phone, where a graph is hard to hit. */
function StepList({ steps, view, onSelect }: { steps: Steps; view: RunView | null; onSelect: (step: string) => void }) {
  // A list of 2,000 buttons would not help; the graph and the events reach every step.
  const shown = steps.slice(0, 200);
  return (
    <section aria-label="Steps" className="rounded-lg border bg-surface shadow-sm">
      <ul>
        {shown.map(step => {
          const state = view?.steps.get(step.id);
          return (
            <li key={step.id} className="border-b last:border-b-0">
              <button
                type="button"
                onClick={() => onSelect(step.id)}
                className="flex w-full items-center gap-2 px-3 py-2 text-left hover:bg-hover"
              >
                <span className="min-w-0 flex-1 truncate">
                  {state?.task?.name || (typeof step.name === 'string' && step.name) || step.id}
                </span>
                <StatusBadge kind="step" status={state?.status ?? 'pending'} detail={state?.skipReason ?? null} />
              </button>
            </li>
          );
        })}
      </ul>
      {steps.length > shown.length ? (
        <p className="px-3 py-2 text-xs text-muted">and {steps.length - shown.length} more in the graph</p>
      ) : null}
    </section>
  );
}
