'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { Part, type Ref } from './run-values.tsx';

type Props = Ref & { step: string };

/** Shows the messages that a turn or a summary sent to the model. They are read when the section is opened. */
export function AgentPrompt(props: Props) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className="cursor-default text-sm text-accent-text">What the model was sent</summary>
      {open ? <Sent {...props} /> : null}
    </details>
  );
}

function Sent({ workflowId, runId, step }: Props) {
  const trpc = useTRPC();
  const prompt = useQuery(
    trpc.runs_get_prompt.queryOptions(
      { id: workflowId, runID: runId, step_id: step },
      { staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  if (prompt.isError) return <ErrorState error={prompt.error} onRetry={() => void prompt.refetch()} />;
  if (prompt.isPending) return <Skeleton className="mt-2 h-20 w-full" />;
  const { messages, tools, left_out } = prompt.data;
  return (
    <div className="mt-2 flex flex-col gap-3">
      {left_out === 0 ? null : (
        <p className="text-xs text-muted">{left_out.toLocaleString('en')} older messages are not shown.</p>
      )}
      {messages.map(({ role, content }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages have no identity but their position
        <Part key={index} title={TITLES[role]}>
          {content.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their position
            <Said key={place} part={part} />
          ))}
        </Part>
      ))}
      {tools.length === 0 ? null : (
        <Part title="Tools">
          <p className="font-mono text-xs wrap-anywhere">{tools.map(({ name }) => name).join(', ')}</p>
        </Part>
      )}
    </div>
  );
}

const TITLES = { system: 'Instructions', user: 'Message', assistant: 'Answer', tool: 'Results' } as const;
const OUTCOMES = { result: 'returned', error: 'failed', denied: 'was not approved' } as const;

type SentPart =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool_call'; name: string; arguments: unknown }
  | { type: 'tool_result'; name: string; outcome: keyof typeof OUTCOMES; text: string };

function Said({ part }: { part: SentPart }) {
  switch (part.type) {
    case 'text':
      return <p className="text-sm whitespace-pre-wrap wrap-anywhere">{part.text}</p>;
    case 'reasoning':
      return <p className="text-sm whitespace-pre-wrap wrap-anywhere text-muted">{part.text}</p>;
    case 'tool_call':
      return (
        <div>
          <p className="text-xs text-muted">
            calls <code>{part.name}</code>
          </p>
          <JsonTree label={`Arguments of ${part.name}`} value={part.arguments as Json} />
        </div>
      );
    case 'tool_result':
      return (
        <div>
          <p className="text-xs text-muted">
            <code>{part.name}</code> {OUTCOMES[part.outcome]}
          </p>
          <p className="max-h-60 overflow-y-auto font-mono text-xs whitespace-pre-wrap wrap-anywhere">{part.text}</p>
        </div>
      );
  }
}
