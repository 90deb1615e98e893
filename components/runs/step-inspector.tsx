'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Inbox, Workflow, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import {
  type AttemptState,
  isAgentStep,
  type StepError,
  type StepState,
  type WireEvent,
} from '@/server/domains/runs/run-state.ts';
import type { Json } from '@/server/platform/json.ts';
import { StepTile, stepTypeLook } from '../graph/step-icon.tsx';
import { useCreditsShown, usePermissions, useSession } from '../shell/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button, ButtonLink, IconButton } from '../ui/button.tsx';
import { Credits, creditsInWords } from '../ui/credits.tsx';
import { stepPath } from '../ui/json-path.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Link } from '../ui/link.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Duration, formatDuration, formatLocal } from '../ui/time.tsx';
import { agentStepsOf } from './agent-steps.ts';
import { AgentTrace } from './agent-trace.tsx';
import { CalledRuns } from './called-runs.tsx';
import { INSUFFICIENT_CREDITS } from './credit-shortage.tsx';
import { FailedScript } from './failed-script.tsx';
import { scriptError } from './failure-text.ts';
import { LargeValue, Part } from './run-values.tsx';
import { useStepEvents } from './use-events.ts';
import type { LiveRun } from './use-run.ts';

const MemoriesOfStep = dynamic(() => import('../memory/used-memories.tsx').then(module => module.MemoriesOfStep), {
  ssr: false,
});
const AgentStepValues = dynamic(() => import('./agent-step-values.tsx').then(module => module.AgentStepValues), {
  ssr: false,
});

type Run = { workflowId: string; runId: string };
type Props = Run & {
  live: LiveRun;
  step: StepState;
  spec: Record<string, unknown> & { id: string; type: string };
  onSelect: (step: string) => void;
  onClose: () => void;
};

/** Everything about one step of a run: how it went, its input, result or error, attempts and log. */
export function StepInspector({ workflowId, runId, live, step, spec, onSelect, onClose }: Props) {
  const showsCredits = useCreditsShown();
  const { canWrite } = usePermissions();
  const ref = { workflowId, runId };
  const type = stepTypeLook(spec.type);
  const ofAgent = isAgentStep(step.id);
  const inner = agentStepsOf(live.state).get(step.id) ?? [];
  return (
    <section aria-label={`Step ${spec.id}`} className="flex flex-col gap-4 rounded-lg border bg-surface p-4 shadow-sm">
      <header className="flex items-start justify-between gap-2">
        <StepTile type={spec.type} size="lg" />
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-lg leading-5 font-semibold">
            {typeof spec.name === 'string' && spec.name ? spec.name : spec.id}
          </h2>
          <p className="truncate text-xs text-muted">
            <code>{spec.id}</code> · {type.label}
          </p>
        </div>
        <IconButton label="Close the step" size="sm" onClick={onClose}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </header>
      <div className="flex flex-wrap items-center gap-2">
        <StatusBadge kind="step" status={step.status} detail={step.skipReason} />
        {step.status === 'waiting' ? (
          <ButtonLink
            size="sm"
            variant="primary"
            href={`/inbox/${runId}/${encodeURIComponent(step.id)}`}
            icon={<Inbox aria-hidden className="size-3.5" />}
          >
            {canWrite ? 'Answer in the inbox' : 'Open in the inbox'}
          </ButtonLink>
        ) : null}
        {step.childRun === null ? null : (
          <ButtonLink
            size="sm"
            href={`/workflows/${step.childRun.workflow_id}/runs/${step.childRun.run_id}`}
            icon={<Workflow aria-hidden className="size-3.5" />}
          >
            Open the called run
          </ButtonLink>
        )}
        <StepDuration step={step} />
        {showsCredits && step.credits > 0 ? (
          <Credits unit value={step.credits} className="text-xs text-muted tabular-nums" />
        ) : null}
      </div>
      {step.error && step.status !== 'completed' ? <StepFailure error={step.error} spec={spec} /> : null}
      <CalledRuns {...ref} state={live.state} step={step} spec={spec} />
      {inner.length > 0 ? (
        <Part title="Turns and calls">
          <AgentTrace steps={inner} state={live.state} selected={null} onSelect={onSelect} />
        </Part>
      ) : null}
      {spec.type === 'agent' && !ofAgent && step.attempts.length > 0 ? (
        <MemoriesOfStep runId={runId} stepId={step.id} />
      ) : null}
      {step.attempts.length === 0 ? null : ofAgent ? (
        <AgentStepValues {...ref} live={live} step={step} onSelect={onSelect} />
      ) : (
        <StepValues {...ref} step={step} />
      )}
      <StepLog {...ref} live={live} step={step.id} />
      {step.attempts.length > 0 ? (
        <Part title={step.attempts.length === 1 ? 'Attempt' : `${step.attempts.length} attempts`}>
          <ol className="flex flex-col gap-1">
            {step.attempts.map(attempt => (
              <Attempt key={attempt.attempt} attempt={attempt} />
            ))}
          </ol>
        </Part>
      ) : null}
      {ofAgent ? null : (
        <Part title="Definition">
          <JsonTree label="Definition" value={spec as unknown as Json} open={1} />
        </Part>
      )}
    </section>
  );
}

/** From the start of the first attempt to the end of the step; counts on while it is under way. */
function StepDuration({ step }: { step: StepState }) {
  const first = step.attempts[0];
  if (!first) return null;
  const iso = (at: number) => new Date(at).toISOString();
  return (
    <Duration
      from={iso(first.startedAt)}
      to={step.endedAt === null ? null : iso(step.endedAt)}
      className="text-xs text-muted tabular-nums"
    />
  );
}

const outcomes: Record<AttemptState['outcome'], string> = {
  running: 'running',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  lost: 'Lost: the process stopped during the attempt',
};

function Attempt({ attempt }: { attempt: AttemptState }) {
  const showsCredits = useCreditsShown();
  const started = new Date(attempt.startedAt).toISOString();
  return (
    <li className="text-xs text-muted">
      <span className="tabular-nums">#{attempt.attempt}</span> {outcomes[attempt.outcome]}
      {attempt.endedAt === null ? null : `, ${formatDuration(attempt.endedAt - attempt.startedAt)}`}
      {showsCredits && attempt.credits > 0 ? `, ${creditsInWords(attempt.credits)}` : ''}
      <span className="text-faint"> · {formatLocal(started)}</span>
      {attempt.error ? <span className="block pl-5 wrap-anywhere text-bad">{attempt.error.message}</span> : null}
    </li>
  );
}

/** The error of a step with its details; one of a script stands beside its line. */
function StepFailure({ error, spec }: { error: StepError; spec: Props['spec'] }) {
  const { billing } = useSession().me;
  const { script } = spec;
  const inScript = typeof script === 'string' ? scriptError(error.message) : null;
  return (
    <div className="flex flex-col gap-2">
      <div
        role="alert"
        className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
      >
        <p className="whitespace-pre-wrap">{inScript ? `Line ${inScript.line}: ${inScript.text}` : error.message}</p>
        <p className="mt-1 font-mono text-xs">{error.code}</p>
        {error.code === INSUFFICIENT_CREDITS && billing === 'on' ? (
          <Link href="/billing" className="mt-1 inline-block font-medium underline underline-offset-2">
            Go to billing
          </Link>
        ) : null}
      </div>
      {inScript ? <FailedScript script={String(script)} error={inScript} /> : null}
      {error.details === undefined || error.details === null ? null : (
        <Part title="Error details">
          <JsonTree label="Error details" value={error.details} root={`${stepPath(spec.id, 'error')}.details`} />
        </Part>
      )}
    </div>
  );
}

const asItIs = (path: string) => path;

/** Shows the input that the step read and the result that it returned. */
function StepValues({ workflowId, runId, step }: Run & { step: StepState }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const input = { id: workflowId, runID: runId, step_id: step.id };
  const read = useQuery({
    // What it read and returned changes with its state alone.
    queryKey: [...trpc.runs_get_step.queryKey(input), step.status, step.attempts.length],
    queryFn: ({ signal }) => client.runs_get_step.query(input, { signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (read.isError) return <ErrorState error={read.error} onRetry={() => void read.refetch()} />;
  if (read.isPending) return <Skeleton className="h-20 w-full" />;
  const { resolved, has_result, result, result_ref } = read.data;
  const values = resolved.filter(each => each.problem === null).map(({ name, value }) => [name, value] as const);
  const problems = resolved.filter(each => each.problem !== null);
  return (
    <>
      {resolved.length > 0 ? (
        <Part title="Resolved input">
          {values.length > 0 ? (
            <JsonTree label="Resolved input" value={Object.fromEntries(values) as Json} pathOf={asItIs} />
          ) : null}
          {problems.map(({ name, problem }) => (
            <p key={name} className="text-xs wrap-anywhere text-muted">
              <code>{name}</code>: {problem}
            </p>
          ))}
        </Part>
      ) : null}
      {result_ref ? <LargeValue workflowId={workflowId} runId={runId} title="Result" reference={result_ref} /> : null}
      {has_result && !result_ref ? (
        <Part title="Result">
          <JsonTree label="Result" value={result as Json} root={stepPath(step.id, 'result')} />
        </Part>
      ) : null}
    </>
  );
}

function StepLog({ live, step, ...ref }: Run & { live: LiveRun; step: string }) {
  const events = useStepEvents(ref, live, step);
  const lines = events.all.flatMap(logLines);
  if (events.error) return <ErrorState error={events.error} onRetry={events.retry} />;
  if (lines.length === 0 && !events.more) return null;
  return (
    <Part title="Log">
      <ScrollRegion label="Log" className="max-h-60 overflow-auto rounded-md border bg-sunken p-2">
        <pre className="text-xs whitespace-pre-wrap">{lines.join('\n')}</pre>
      </ScrollRegion>
      {events.more ? (
        <Button size="sm" className="self-start" onClick={events.loadMore}>
          Show more of the log
        </Button>
      ) : null}
    </Part>
  );
}

function logLines(event: WireEvent): string[] {
  const { lines } = event.data;
  return event.event_type === 'step_log' && Array.isArray(lines) ? lines.map(String) : [];
}
