'use client';
import { useQuery } from '@tanstack/react-query';
import { Inbox, X } from 'lucide-react';
import Link from 'next/link';
import { type ReactNode, useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { stepTypeLook } from '../graph/step-icon.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, ButtonLink, IconButton } from '../ui/button.tsx';
import { Credits, creditsInWords } from '../ui/credits.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { formatDuration, formatUtc } from '../ui/time.tsx';
import { INSUFFICIENT_CREDITS } from './credit-shortage.tsx';
import type { AttemptView, PayloadRef, StepView } from './run-view.ts';

type Run = { workflowId: string; runId: string };
type Props = Run & {
  step: StepView;
  spec: Record<string, unknown> & { id: string; type: string };
  onClose: () => void;
};

/** Everything about one step of a run: how it went, its input, result or error, attempts and log. */
export function StepInspector({ workflowId, runId, step, spec, onClose }: Props) {
  const type = stepTypeLook(spec.type);
  return (
    <section aria-label={`Step ${spec.id}`} className="flex flex-col gap-4 rounded-lg border bg-surface p-4 shadow-sm">
      <header className="flex items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="truncate text-base font-semibold">
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
            Answer in the inbox
          </ButtonLink>
        ) : null}
        {step.credits > 0 ? <Credits unit value={step.credits} className="text-xs text-muted tabular-nums" /> : null}
      </div>
      {step.error && step.status !== 'completed' ? (
        <div
          role="alert"
          className="rounded-md border border-bad/40 bg-bad-soft px-3 py-2 text-sm wrap-anywhere text-bad"
        >
          <p className="whitespace-pre-wrap">{step.error.message}</p>
          <p className="mt-1 font-mono text-xs">{step.error.code}</p>
          {step.error.code === INSUFFICIENT_CREDITS ? (
            <Link href="/billing" className="mt-1 inline-block font-medium underline underline-offset-2">
              Go to billing
            </Link>
          ) : null}
        </div>
      ) : null}
      <Result workflowId={workflowId} runId={runId} step={step} />
      {step.logs.length > 0 ? (
        <Part title="Log">
          <ScrollRegion label="Log" className="max-h-60 overflow-auto rounded-md border bg-sunken p-2">
            <pre className="text-xs whitespace-pre-wrap">{step.logs.join('\n')}</pre>
          </ScrollRegion>
        </Part>
      ) : null}
      {step.attempts.length > 0 ? (
        <Part title={step.attempts.length === 1 ? 'Attempt' : `${step.attempts.length} attempts`}>
          <ol className="flex flex-col gap-1">
            {step.attempts.map(attempt => (
              <Attempt key={attempt.attempt} attempt={attempt} />
            ))}
          </ol>
        </Part>
      ) : null}
      <Part title="Definition">
        <JsonTree label="Definition" value={spec as unknown as Json} open={1} />
      </Part>
    </section>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <h3 className="text-xs font-medium text-muted">{title}</h3>
      {children}
    </div>
  );
}

const outcomes: Record<AttemptView['outcome'], string> = {
  running: 'running',
  waiting: 'waiting',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  lost: 'lost: the process ended during the attempt',
};

function Attempt({ attempt }: { attempt: AttemptView }) {
  const started = new Date(attempt.startedAt).toISOString();
  return (
    <li className="text-xs text-muted">
      <span className="tabular-nums">#{attempt.attempt}</span> {outcomes[attempt.outcome]}
      {attempt.endedAt === null ? null : `, ${formatDuration(attempt.endedAt - attempt.startedAt)}`}
      {attempt.credits > 0 ? `, ${creditsInWords(attempt.credits)}` : ''}
      <span className="text-faint"> · {formatUtc(started)}</span>
      {attempt.error ? <span className="block pl-5 wrap-anywhere text-bad">{attempt.error.message}</span> : null}
    </li>
  );
}

function Result({ workflowId, runId, step }: Run & { step: StepView }) {
  if (step.resultRef)
    return <LargeValue workflowId={workflowId} runId={runId} title="Result" reference={step.resultRef} />;
  if (step.result === undefined) return null;
  return (
    <Part title="Result">
      <JsonTree label="Result" value={step.result as Json} />
    </Part>
  );
}

/** A value too large for its event: fetched when asked for, never with the page. */
export function LargeValue({ workflowId, runId, title, reference }: Run & { title: string; reference: PayloadRef }) {
  const trpc = useTRPC();
  const [open, setOpen] = useState(false);
  const payload = useQuery(
    trpc.runs_get_payload.queryOptions(
      { id: workflowId, runID: runId, payload_id: reference.payload_id },
      { enabled: open, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  return (
    <Part title={title}>
      {!open ? (
        <Button size="sm" onClick={() => setOpen(true)}>
          Show {Math.ceil(reference.bytes / 1024)} KiB
        </Button>
      ) : payload.isPending ? (
        <Skeleton className="h-20 w-full" />
      ) : payload.isError ? (
        <ErrorState error={payload.error} onRetry={() => void payload.refetch()} />
      ) : (
        <JsonTree label={title} value={payload.data.body as Json} open={1} />
      )}
    </Part>
  );
}
