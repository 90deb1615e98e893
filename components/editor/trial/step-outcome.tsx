'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowUpRight, Inbox } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { LargeValue } from '../../runs/run-values.tsx';
import { useCreditsShown } from '../../session/session.tsx';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Credits } from '../../ui/credits.tsx';
import { stepPath } from '../../ui/json-path.ts';
import { JsonTree } from '../../ui/json-tree.tsx';
import { ScrollRegion } from '../../ui/scroll-region.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Duration } from '../../ui/time.tsx';
import type { Draft } from '../use-draft.ts';
import { PinButton } from './pin-controls.tsx';
import { outcomeOf } from './step-test-data.ts';

/** The polling interval during a test, in ms. */
const POLL_MS = 700;

type Props = {
  workflowId: string;
  runId: string;
  step: string;
  /** The loop whose step is tested. */
  loop: string | undefined;
};
type OutcomeProps = Props & {
  /** Whether the test was just started, so that its outcome scrolls into view. */
  reveal: boolean;
  /** The draft in which the result can be pinned; null if it cannot be pinned. */
  pinIn: Draft | null;
};
type StepSummary = Outputs['runs_get_summary']['steps'][number];

/** Shows the outcome of a step test: its status while it runs, then its result, error and log. */
export function StepOutcome({ workflowId, runId, step, loop, reveal, pinIn }: OutcomeProps) {
  const showsCredits = useCreditsShown();
  const section = useRef<HTMLElement>(null);
  const trpc = useTRPC();
  const ref = { id: workflowId, runID: runId };
  // A loop adds its steps to the run under the number of the item.
  const executed = loop === undefined ? step : `${loop}.0.${step}`;
  const summary = useQuery(
    trpc.runs_get_summary.queryOptions(ref, {
      refetchInterval: query => (query.state.data?.run_complete ? false : POLL_MS),
    }),
  );
  const complete = summary.data?.run_complete === true;
  const events = useQuery(
    trpc.runs_list_events.queryOptions({ ...ref, step_id: executed, limit: 1000 }, { enabled: complete }),
  );
  const shown = complete && events.data !== undefined;
  const queryClient = useQueryClient();
  useEffect(() => {
    // Refreshes the last results, which the tests of later steps use.
    if (reveal && complete) void queryClient.invalidateQueries({ queryKey: trpc.workflows_list_runs.pathKey() });
  }, [reveal, complete, queryClient, trpc]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the values are below the fold when they arrive
  useEffect(() => {
    if (reveal) section.current?.scrollIntoView({ block: 'nearest' });
  }, [reveal, shown]);
  if (summary.isError && !summary.data)
    return (
      <ErrorState title="The test could not be shown" error={summary.error} onRetry={() => void summary.refetch()} />
    );
  const own = ownSummary(summary.data, loop ?? step);
  return (
    <section ref={section} aria-label="Last test" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-sm font-medium">Last test</h2>
        <span role="status">
          {own ? (
            <StatusBadge kind="step" status={own.status} detail={own.skip_reason} />
          ) : (
            <Skeleton className="h-5 w-20" />
          )}
        </span>
        {own?.started_at ? (
          <Duration from={own.started_at} to={own.ended_at} className="text-xs text-muted tabular-nums" />
        ) : null}
        {showsCredits && own && own.credits_microcredits > 0 ? (
          <Credits unit value={own.credits_microcredits} className="text-xs text-muted tabular-nums" />
        ) : null}
        <ButtonLink
          size="sm"
          variant="ghost"
          className="ml-auto"
          href={`/workflows/${workflowId}/runs/${runId}`}
          icon={<ArrowUpRight aria-hidden className="size-3.5" />}
        >
          Open run
        </ButtonLink>
      </div>
      {own ? <Problem step={{ ...own, step_id: executed }} runId={runId} /> : null}
      {!complete ? null : events.data ? (
        <Values workflowId={workflowId} runId={runId} step={step} events={events.data.events} pinIn={pinIn} />
      ) : events.isError ? (
        <ErrorState title="The result could not be read" error={events.error} onRetry={() => void events.refetch()} />
      ) : (
        <Skeleton className="h-20 w-full" />
      )}
    </section>
  );
}

/** Returns the state of a step in a run. A loop is waiting if its step is waiting. */
function ownSummary(run: Outputs['runs_get_summary'] | undefined, step: string): StepSummary | undefined {
  const own = run?.steps.find(({ step_id }) => step_id === step);
  const waits = own?.status === 'running' && run?.orchestration_phase === 'blocked';
  return waits ? { ...own, status: 'waiting' } : own;
}

function Problem({ step, runId }: { step: StepSummary; runId: string }) {
  if (step.status === 'waiting')
    return (
      <ButtonLink
        size="sm"
        variant="primary"
        className="self-start"
        href={`/inbox/${runId}/${encodeURIComponent(step.step_id)}`}
        icon={<Inbox aria-hidden className="size-3.5" />}
      >
        Answer in the inbox
      </ButtonLink>
    );
  if (step.error === null || step.status === 'completed') return null;
  return (
    <div role="alert" className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad">
      <p className="whitespace-pre-wrap">{step.error.message}</p>
      <p className="mt-1 font-mono text-xs">{step.error.code}</p>
    </div>
  );
}

type ValueProps = Omit<OutcomeProps, 'loop' | 'reveal'> & { events: Outputs['runs_list_events']['events'] };

function Values({ workflowId, runId, step, events, pinIn }: ValueProps) {
  const { result, resultRef, logs } = outcomeOf(events);
  return (
    <>
      {resultRef ? (
        <LargeValue workflowId={workflowId} runId={runId} title="Result" reference={resultRef} />
      ) : result === undefined ? null : (
        <div className="flex flex-col gap-1">
          <h3 className="text-xs font-medium text-muted">Result</h3>
          <JsonTree label="Result" value={result} root={stepPath(step, 'result')} />
          {pinIn === null ? null : <PinButton draft={pinIn} step={step} result={result} />}
        </div>
      )}
      {logs.length > 0 ? (
        <div className="flex flex-col gap-1">
          <h3 className="text-xs font-medium text-muted">Log</h3>
          <ScrollRegion label="Log" className="max-h-60 overflow-auto rounded-md border bg-sunken p-2">
            <pre className="text-xs whitespace-pre-wrap">{logs.join('\n')}</pre>
          </ScrollRegion>
        </div>
      ) : null}
    </>
  );
}
