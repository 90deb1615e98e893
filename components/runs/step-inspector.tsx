'use client';
import { Inbox, Workflow, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import type { ReactNode } from 'react';
import {
  type AttemptState,
  isAgentStep,
  type Snapshot,
  type StepState,
} from '@/server/domains/runs/reading/run-state.ts';
import type { Json } from '@/server/platform/json.ts';
import { StepTile, stepTypeLook } from '../graph/step-icon.tsx';
import { useCreditsShown, usePermissions } from '../session/session.tsx';
import { ButtonLink, IconButton } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Credits, creditsInWords } from '../ui/credits.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Link } from '../ui/link.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Duration, formatDuration, formatLocal } from '../ui/time.tsx';
import { agentStepsOf } from './agent-steps.ts';
import { AgentTrace } from './agent-trace.tsx';
import { CalledRuns } from './called-runs.tsx';
import { LoopItems } from './loop-items.tsx';
import { attemptsOf, shownStep } from './outcome.ts';
import { RunOf } from './run-of.tsx';
import { Part } from './run-values.tsx';
import { StepFailure, StepLog, StepValues } from './step-values.tsx';
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
  /** The run whose results this one reuses. */
  original?: Snapshot['original'];
  /** The selected step, which may be inside this loop. */
  selected?: string | null;
  step: StepState;
  spec: Record<string, unknown> & { id: string; type: string };
  onSelect: (step: string) => void;
  onClose: () => void;
  /** Whether the step's input and settings are shown elsewhere. */
  outputOnly?: boolean;
  /** Shown below the values. */
  children?: ReactNode;
};

/** Shows one step of a run: its outcome, input, result or error, attempts and log. */
export function StepInspector(props: Props) {
  const { workflowId, runId, live, original = null, selected = null, step, spec, onSelect, onClose } = props;
  const { outputOnly = false } = props;
  const showsCredits = useCreditsShown();
  const { canWrite } = usePermissions();
  const ref = { workflowId, runId };
  const type = stepTypeLook(spec.type);
  const ofAgent = isAgentStep(step.id);
  const inner = agentStepsOf(live.state).get(step.id) ?? [];
  const attempts = attemptsOf(step.attempts);
  return (
    <section
      aria-label={`Step ${spec.id}`}
      className={cx('flex flex-col gap-4 bg-surface p-4', !outputOnly && 'rounded-lg border shadow-sm')}
    >
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
        <StatusBadge kind="step" {...shownStep(step)} />
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
      {original !== null && step.reused ? (
        <p className="text-sm text-muted">
          Reused from{' '}
          <Link
            className="underline underline-offset-2 hover:text-accent-text"
            href={`/workflows/${original.workflow_id}/runs/${original.run_id}?step=${encodeURIComponent(step.id)}`}
          >
            <RunOf id={original.run_id} />
          </Link>
          : the step was not run again.
        </p>
      ) : null}
      {spec.type === 'for_each' && step.attempts.length > 0 ? (
        <LoopItems
          {...ref}
          live={live}
          loop={spec}
          ended={step.endedAt !== null}
          selected={selected}
          onSelect={onSelect}
        />
      ) : null}
      <CalledRuns {...ref} state={live.state} step={step} spec={spec} />
      {inner.length > 0 ? (
        <Part title="Turns and calls">
          <AgentTrace steps={inner} state={live.state} selected={null} onSelect={onSelect} />
        </Part>
      ) : null}
      {spec.type === 'agent' && !ofAgent && step.attempts.length > 0 ? (
        <MemoriesOfStep runId={runId} stepId={step.id} />
      ) : null}
      {step.attempts.length === 0 && !step.reused ? null : ofAgent ? (
        <AgentStepValues {...ref} live={live} step={step} onSelect={onSelect} />
      ) : (
        <StepValues {...ref} step={step} part={outputOnly ? 'result' : undefined} />
      )}
      {props.children}
      <StepLog {...ref} live={live} step={step.id} />
      {attempts.length > 0 ? (
        <Part title={attempts.length === 1 ? 'Attempt' : `${attempts.length} attempts`}>
          <ol className="flex flex-col gap-1">
            {attempts.map(attempt => (
              <Attempt key={attempt.attempt} attempt={attempt} />
            ))}
          </ol>
        </Part>
      ) : null}
      {ofAgent || outputOnly ? null : (
        <Part title="Definition">
          <JsonTree label="Definition" value={spec as Json} open={1} />
        </Part>
      )}
    </section>
  );
}

/** Shows the time from the first attempt to the end of the step, or until now. */
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
