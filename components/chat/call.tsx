'use client';
import { ChevronRight } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Link } from '../ui/link.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Approval } from './approval.tsx';
import { CallFacts } from './call-facts.tsx';
import { type CallPart, stepOf } from './parts.ts';

/** The step status that is shown for each state of a call. */
const statuses: Record<CallPart['state'], string> = {
  'input-streaming': 'running',
  'input-available': 'running',
  'approval-requested': 'waiting',
  'approval-responded': 'running',
  'output-available': 'completed',
  'output-error': 'failed',
  'output-denied': 'skipped',
};

const InDoubt = dynamic(() => import('./in-doubt.tsx').then(module => module.InDoubt), { ssr: false });
const Question = dynamic(() => import('./question.tsx').then(module => module.Question), { ssr: false });

/** Shows a tool call as a line that expands to its arguments and result. A call that waits for a person has a form below. */
export function Call({ part, workflowId }: { part: CallPart; workflowId: string }) {
  const { toolName, toolCallId, state, input, output, errorText, approval } = part;
  const { runId, step } = stepOf(toolCallId);
  const [open, setOpen] = useState(false);
  const isEnded = state === 'output-available' || state === 'output-error';
  return (
    <div className="rounded-md border">
      <details className="group" onToggle={event => setOpen(event.currentTarget.open)}>
        <summary
          aria-label={`Call of ${toolName}`}
          className="flex cursor-default list-none items-center gap-2 px-2.5 py-1.5 text-sm hover:bg-hover"
        >
          <ChevronRight aria-hidden className="size-3.5 shrink-0 text-muted group-open:rotate-90" />
          <code className="min-w-0 flex-1 truncate text-xs">{toolName}</code>
          <StatusBadge
            kind="step"
            status={statuses[state]}
            detail={state === 'output-denied' ? 'not approved' : null}
          />
        </summary>
        <div className="flex flex-col gap-2 border-t p-2.5">
          {input === undefined ? null : <JsonTree label="Arguments" value={input as Json} />}
          {output === undefined ? null : <JsonTree label="Result" value={output as Json} />}
          <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
            {open ? <CallFacts workflowId={workflowId} runId={runId} step={step} isEnded={isEnded} /> : null}
            <Link
              href={`/workflows/${workflowId}/runs/${runId}?step=${encodeURIComponent(step)}`}
              className="text-xs text-accent-text hover:underline"
            >
              Open the step
            </Link>
          </div>
        </div>
      </details>
      {approval?.reason === undefined ? null : (
        <p className="border-t px-2.5 py-1.5 text-xs wrap-anywhere text-muted">{approval.reason}</p>
      )}
      {errorText === undefined ? null : (
        <p className="border-t px-2.5 py-1.5 text-xs wrap-anywhere text-bad">{errorText}</p>
      )}
      {state === 'approval-requested' && approval && toolName === 'ask_user' ? (
        <Question id={approval.id} input={input as Json | undefined} workflowId={workflowId} />
      ) : state === 'approval-requested' && approval?.id === toolCallId ? (
        <InDoubt id={approval.id} tool={toolName} workflowId={workflowId} />
      ) : state === 'approval-requested' && approval ? (
        <Approval id={approval.id} tool={toolName} input={input as Json | undefined} workflowId={workflowId} />
      ) : null}
    </div>
  );
}
