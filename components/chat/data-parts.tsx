'use client';
import { FlaskConical, GitPullRequestArrow, Waypoints } from 'lucide-react';
import Link from 'next/link';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { Part } from './parts.ts';
import { proposalHref } from './proposal-href.ts';

type Data<T extends Part['type']> = Extract<Part, { type: T }> extends { data: infer D } ? D : never;

/** Shows the subject of a message: a workflow, a run of it, a step. */
export function ContextNote({ data }: { data: Data<'data-context'> }) {
  const { workflow_id: workflowId, workflow_name: name, run_id: runId, run_status: status, step_id: step } = data;
  const at = step === null ? '' : `?step=${encodeURIComponent(step)}`;
  return (
    <p className="flex flex-wrap items-center gap-x-1 text-xs text-muted">
      <Waypoints aria-hidden className="size-3.5 shrink-0" />
      <Link href={`/workflows/${workflowId}`} className="underline underline-offset-2 wrap-anywhere">
        {name}
      </Link>
      {runId === null ? null : (
        <>
          ·{' '}
          <Link href={`/workflows/${workflowId}/runs/${runId}${at}`} className="underline underline-offset-2">
            {status === 'failed' ? 'the run that failed' : 'a run'}
          </Link>
        </>
      )}
      {step === null ? null : (
        <>
          · <code className="wrap-anywhere">{step}</code>
        </>
      )}
    </p>
  );
}

const statuses: Readonly<Record<string, { label: string; tone: Tone }>> = {
  building: { label: 'Has errors', tone: 'warn' },
  ready: { label: 'Ready', tone: 'ok' },
  needs_input: { label: 'Needs input', tone: 'warn' },
};

/** Shows a proposal from an answer, with a link. */
export function ProposalNote({ data }: { data: Data<'data-proposal'> }) {
  const { proposal_id: id, workflow_id: workflowId, title, status, edits } = data;
  const look = statuses[status] ?? { label: status, tone: 'neutral' };
  return (
    <Link
      href={proposalHref(id, workflowId)}
      aria-label={`Proposal: ${title}`}
      className="flex items-center gap-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-2 text-sm hover:border-accent"
    >
      <GitPullRequestArrow aria-hidden className="size-4 shrink-0 text-accent-text" />
      <span className="min-w-0 flex-1">
        <span className="block font-medium wrap-anywhere">{title}</span>
        <span className="text-xs text-muted">
          {edits === 1 ? '1 edit' : `${edits} edits`}. Review it, try it and apply it.
        </span>
      </span>
      <Badge tone={look.tone}>{look.label}</Badge>
    </Link>
  );
}

const verdicts = {
  proven: { label: 'Proven', tone: 'ok' },
  simulated: { label: 'Simulated', tone: 'info' },
  failed: { label: 'Failed', tone: 'bad' },
} as const;

/** Shows the verdict of a proposal's trial, if the answer has one. */
export function TrialNote({ data }: { data: Data<'data-trial'> }) {
  const { workflow_id: workflowId, run_id: runId, verdict } = data;
  return (
    <p className="flex items-center gap-2 text-sm">
      <FlaskConical aria-hidden className="size-4 text-muted" />
      <Link href={`/workflows/${workflowId}/runs/${runId}`} className="underline underline-offset-2">
        Trial
      </Link>
      <Badge tone={verdict === null ? 'info' : verdicts[verdict].tone}>
        {verdict === null ? 'Running' : verdicts[verdict].label}
      </Badge>
    </p>
  );
}
