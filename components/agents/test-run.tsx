'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { isTerminal, type Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { agentStepsOf } from '../runs/agent-steps.ts';
import { AgentTrace } from '../runs/agent-trace.tsx';
import { waitsFor } from '../runs/outcome.ts';
import { RunFailure } from '../runs/run-failure.tsx';
import { RunOutput } from '../runs/run-output.tsx';
import { StepInspector } from '../runs/step-inspector.tsx';
import { useRun } from '../runs/use-run.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';

type Steps = Outputs['workflows_get_version']['graph_snapshot']['steps'];

/** Shows a run of an agent with its turns, calls and outcome. */
export function TestRun({ agentId, runId }: { agentId: string; runId: string }) {
  const trpc = useTRPC();
  const snapshot = useQuery(
    trpc.runs_get_snapshot.queryOptions(
      { id: agentId, runID: runId },
      // The stream delivers later events.
      { staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const number = snapshot.data?.version;
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: agentId, version: number ?? 1 },
      { enabled: number !== undefined, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const failed = snapshot.error ?? version.error;
  if (failed) return <ErrorState error={failed} onRetry={() => void snapshot.refetch()} />;
  if (!snapshot.data || !version.data) return <Skeleton className="h-40 w-full" />;
  return <Live snapshot={snapshot.data} steps={version.data.graph_snapshot.steps} />;
}

function Live({ snapshot, steps }: { snapshot: Snapshot; steps: Steps }) {
  const { workflow_id: workflowId, run_id: runId } = snapshot;
  const ref = { workflowId, runId };
  const stepIds = useMemo(() => steps.map(({ id }) => id), [steps]);
  const live = useRun(snapshot, stepIds);
  const { state } = live;
  useRefetchAtEnd(isTerminal(state.status));
  const [selected, setSelected] = useState<string | null>(null);
  const added = [...agentStepsOf(state).values()].flat();
  const spec = added.find(({ id }) => id === selected);
  const step = spec && state.steps.get(spec.id);
  const isBlocked = waitsFor(state, steps) === 'people';
  return (
    <section aria-label="Test run" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <StatusBadge kind="run" status={isBlocked ? 'blocked' : (state.status ?? 'running')} />
        <Link href={`/workflows/${workflowId}/runs/${runId}`} className="text-sm text-accent-text hover:underline">
          Open the run
        </Link>
      </div>
      <RunFailure state={state} steps={steps} onSelect={setSelected} />
      {added.length > 0 ? (
        <AgentTrace steps={added} state={state} selected={selected} onSelect={setSelected} />
      ) : isTerminal(state.status) ? null : (
        <Skeleton className="h-20 w-full" />
      )}
      {spec && step ? (
        <StepInspector
          {...ref}
          key={spec.id}
          live={live}
          step={step}
          spec={spec}
          onSelect={setSelected}
          onClose={() => setSelected(null)}
        />
      ) : null}
      <RunOutput {...ref} steps={steps} state={state} hasTemplate />
    </section>
  );
}

/** Refetches the queries that depend on ended runs once the run has ended. */
function useRefetchAtEnd(hasEnded: boolean): void {
  const trpc = useTRPC();
  const queries = useQueryClient();
  useEffect(() => {
    if (!hasEnded) return;
    void queries.invalidateQueries(trpc.runs_list_tenant.pathFilter());
    void queries.invalidateQueries(trpc.agents_list.queryFilter());
  }, [hasEnded, trpc, queries]);
}
