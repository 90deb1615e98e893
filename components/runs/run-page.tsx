'use client';
import { useQuery } from '@tanstack/react-query';
import { CloudOff, Unplug } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useMemo } from 'react';
import { isAgentStep, isTerminal, type Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { type FirstRead, useFirstRead } from '../session/first-read.ts';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { Page, PageSkeleton } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useLoadedEarly } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { agentStepsOf } from './agent-steps.ts';
import { CreditShortage, shortageOf } from './credit-shortage.tsx';
import { waitsFor } from './outcome.ts';
import { RunFacts } from './run-facts.tsx';
import { RunHeader } from './run-header.tsx';
import { StepList } from './step-list.tsx';
import { StepNames, stepNames } from './step-names.tsx';
import { type LiveRun, useRun } from './use-run.ts';

// Loaded on demand: most people only use the graph and the steps.
const loadViews = () => import('./run-views.ts');
const Loading = () => <Skeleton className="h-80 w-full" />;
const RunComparison = dynamic(() => loadViews().then(views => views.RunComparison), { ssr: false, loading: Loading });
const TimelineView = dynamic(() => loadViews().then(views => views.TimelineView), { ssr: false, loading: Loading });
const EventsView = dynamic(() => loadViews().then(views => views.EventsView), { ssr: false, loading: Loading });
const RunInput = dynamic(() => loadViews().then(views => views.RunInput), { ssr: false, loading: Loading });
const RunOutput = dynamic(() => loadViews().then(views => views.RunOutput), { ssr: false, loading: Loading });
const StepInspector = dynamic(() => loadViews().then(views => views.StepInspector), { ssr: false, loading: Loading });
// Rendered on the server if the run needs them, so that the page does not shift.
const AgentGraph = dynamic(() => import('./agent-graph.tsx').then(module => module.AgentGraph));
const FailureHelp = dynamic(() => import('./failure-help.tsx').then(module => module.FailureHelp));
const RunFailure = dynamic(() => import('./run-failure.tsx').then(module => module.RunFailure));
const WaitingFor = dynamic(() => import('./waiting-for.tsx').then(module => module.WaitingFor));

type Version = Outputs['workflows_get_version'];

type PageProps = {
  workflowId: string;
  runId: string;
  /** The data that the server read while it rendered the page. */
  first: { snapshot: FirstRead<'runs_get_snapshot'> | null; version: FirstRead<'workflows_get_version'> | null };
};

/** Shows a run with live updates: its state, its graph and its events. */
export function RunPage({ workflowId, runId, first }: PageProps) {
  const trpc = useTRPC();
  const run = { id: workflowId, runID: runId };
  const snapshot = useQuery(
    trpc.runs_get_snapshot.queryOptions(run, {
      // The stream continues from a cached snapshot, so the snapshot need not be read again.
      staleTime: Number.POSITIVE_INFINITY,
      ...useFirstRead(first.snapshot, run),
    }),
  );
  const number = snapshot.data?.version;
  const versionRef = { id: workflowId, version: number ?? 1 };
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(versionRef, {
      enabled: number !== undefined,
      // A version never changes.
      staleTime: Number.POSITIVE_INFINITY,
      ...useFirstRead(first.version, versionRef),
    }),
  );
  const failed = snapshot.error ?? version.error;
  if (failed)
    return (
      <Page>
        <ErrorState error={failed} onRetry={() => void (snapshot.isError ? snapshot.refetch() : version.refetch())} />
      </Page>
    );
  if (!snapshot.data || !version.data) return <PageSkeleton />;
  return <Run key={runId} snapshot={snapshot.data} version={version.data} />;
}

const tabNames = ['graph', 'timeline', 'events', 'data', 'output', 'compare'] as const;

function Run({ snapshot, version }: { snapshot: Snapshot; version: Version }) {
  const ref = { workflowId: snapshot.workflow_id, runId: snapshot.run_id };
  const steps = version.graph_snapshot.steps;
  const stepIds = useMemo(() => steps.map(step => step.id), [steps]);
  const called = useMemo(() => stepNames(steps), [steps]);
  const live = useRun(snapshot, stepIds);
  useLoadedEarly(loadViews);
  const { state } = live;
  const url = useUrlState();
  const { agents } = useSession().me;
  const selected = url.get('step') || null;
  // A step that was added at run time is shown in its loop.
  const authored = selected?.split('.')[0];
  const spec = steps.find(step => step.id === authored);
  const added = selected !== null && isAgentStep(selected) ? addedSpec(live, selected) : undefined;
  const shown = added ?? spec;
  const opensAgents = (url.get('agents') || (added !== undefined || hasOnlyAnAgent(steps) ? '1' : '0')) === '1';
  const select = (step: string | null) => url.set({ step: step ?? undefined });
  const inspected = shown && state.steps.get(shown.id);
  const tab = tabNames.find(name => name === url.get('tab')) ?? 'graph';
  const shortage = shortageOf(state, state.error?.code);
  // The comparison needs the whole width, and shows the selected step itself.
  const beside = tab !== 'compare' && (inspected !== undefined || tab === 'graph');
  return (
    <Page>
      <StepNames value={called}>
        <RunHeader
          snapshot={snapshot}
          live={live}
          waits={waitsFor(state, steps)}
          selected={shown?.id ?? selected}
          hasOnlyAnAgent={hasOnlyAnAgent(steps)}
        />
        <RunFacts snapshot={snapshot} state={state} hasHandler={version.graph_snapshot.on_failure !== undefined} />
        <Connection live={live} />
        <WaitingFor state={state} steps={steps} runId={ref.runId} onSelect={select} />
        {shortage === 'failed' ? <CreditShortage kind={shortage} className="mb-4" /> : null}
        <RunFailure state={state} steps={steps} onSelect={select}>
          {agents && !hasOnlyAnAgent(steps) ? <FailureHelp {...ref} /> : null}
        </RunFailure>
        <div className={cx('grid grid-cols-[minmax(0,1fr)] gap-4', beside && 'lg:grid-cols-[minmax(0,1fr)_380px]')}>
          <RunViews
            snapshot={snapshot}
            version={version}
            live={live}
            selected={shown?.id ?? selected}
            tab={tab}
            opensAgents={opensAgents}
          />
          {beside && inspected && shown ? (
            <div className="min-w-0 lg:pt-13">
              <StepInspector
                {...ref}
                key={shown.id}
                live={live}
                original={snapshot.original}
                selected={selected}
                step={inspected}
                spec={shown}
                onSelect={select}
                onClose={() => select(null)}
              />
            </div>
          ) : tab === 'graph' ? (
            <div className="min-w-0 lg:pt-13">
              <StepList steps={steps} state={state} onSelect={select} />
            </div>
          ) : null}
        </div>
      </StepNames>
    </Page>
  );
}

type ViewsProps = {
  snapshot: Snapshot;
  version: Version;
  live: LiveRun;
  selected: string | null;
  tab: (typeof tabNames)[number];
  opensAgents: boolean;
};

/** The views of a run. They share the selected step. */
function RunViews({ snapshot, version, live, selected, tab, opensAgents }: ViewsProps) {
  const ref = { workflowId: snapshot.workflow_id, runId: snapshot.run_id };
  const url = useUrlState();
  const { state } = live;
  const { steps, notes, output } = version.graph_snapshot;
  const select = (step: string | null) => url.set({ step: step ?? undefined });
  const stepIds = [...steps.map(({ id }) => id), ...[...state.steps.keys()].filter(isAgentStep)];
  return (
    <Tabs
      label="Views of the run"
      value={tab}
      onChange={next => url.set({ tab: next === 'graph' ? undefined : next }, { push: true })}
      tabs={[
        {
          value: 'graph',
          label: 'Graph',
          content: (
            <AgentGraph
              run={ref}
              steps={steps}
              notes={notes}
              live={live}
              selected={url.get('step') || null}
              onSelect={select}
              open={opensAgents}
              onOpen={open => url.set({ agents: open ? '1' : '0' })}
            />
          ),
        },
        {
          value: 'timeline',
          label: 'Timeline',
          content: (
            <TimelineView
              steps={steps}
              snapshot={snapshot}
              live={live}
              selected={url.get('step') || null}
              onSelect={select}
            />
          ),
        },
        {
          value: 'events',
          label: 'Events',
          content: (
            <EventsView
              {...ref}
              snapshot={snapshot}
              steps={steps}
              live={live}
              stepIds={stepIds}
              selected={selected}
              onSelect={select}
            />
          ),
        },
        { value: 'data', label: 'Input', content: <RunInput {...ref} /> },
        {
          value: 'output',
          label: 'Output',
          content: <RunOutput {...ref} steps={steps} state={state} hasTemplate={output !== undefined} />,
        },
        {
          value: 'compare',
          label: 'Compare',
          content: (
            <RunComparison
              here={{ snapshot, state, steps }}
              revision={live.revision}
              other={url.get('with')}
              onOther={runId => url.set({ with: runId })}
              selected={url.get('step') || null}
              onSelect={select}
            />
          ),
        },
      ]}
    />
  );
}

/** Opens the turns and calls at once if an agent is the only step of the run. */
const hasOnlyAnAgent = (steps: Version['graph_snapshot']['steps']) => steps.length === 1 && steps[0]?.type === 'agent';

const addedSpec = ({ state }: LiveRun, id: string) =>
  [...agentStepsOf(state).values()].flat().find(step => step.id === id);

/** Shows a notice while the page receives no live updates. */
function Connection({ live }: { live: LiveRun }) {
  const { stream, state } = live;
  if (isTerminal(state.status) || stream === 'live' || stream === 'connecting' || stream === 'closed') return null;
  const refused = stream === 'refused';
  const Icon = refused ? CloudOff : Unplug;
  return (
    <p role="status" className="mb-3 flex items-center gap-2 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
      <Icon aria-hidden className="size-4" />
      {refused
        ? 'You no longer have access to this run. Its last known state is shown.'
        : 'The connection was lost. Reconnecting; no events are lost.'}
    </p>
  );
}
