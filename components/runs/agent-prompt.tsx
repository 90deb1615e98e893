'use client';
import { useState } from 'react';
import { addedId } from '@/server/orchestrator/core/step-ids.ts';
import type { AgentWork } from '@/server/orchestrator/steps/agent-plan.ts';
import { isObject } from '@/server/platform/json.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { LargeValue, Part, type PayloadRef, type Ref } from './run-values.tsx';
import { useStepEvents } from './use-events.ts';
import type { LiveRun } from './use-run.ts';

type Props = Ref & { live: LiveRun; turn: string };

/** What the model was sent for a turn, read when a person opens it. */
export function AgentPrompt(props: Props) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className="cursor-default text-sm text-accent-text">What the model was sent</summary>
      {open ? <Sent {...props} /> : null}
    </details>
  );
}

function Sent({ live, turn, ...ref }: Props) {
  const { parent, index } = addedId(turn) ?? { parent: turn, index: 1 };
  const events = useStepEvents(ref, live, parent);
  if (events.error) return <ErrorState error={events.error} onRetry={events.retry} />;
  if (events.pending) return <Skeleton className="mt-2 h-20 w-full" />;
  const data = events.all.findLast(({ event_type }) => event_type === 'step_expanded')?.data;
  const reference = data?.agent_ref as PayloadRef | undefined;
  if (reference)
    return (
      <div className="mt-2">
        <LargeValue {...ref} title="Instructions, message and tools" reference={reference} />
      </div>
    );
  if (!isObject(data?.agent)) return null;
  return <Work work={data.agent as unknown as AgentWork} before={index - 1} />;
}

function Work({ work, before }: { work: AgentWork; before: number }) {
  return (
    <div className="mt-2 flex flex-col gap-3">
      {work.messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a message is its place
        <Part key={index} title={message.role === 'system' ? 'Instructions' : 'Message'}>
          <p className="text-sm whitespace-pre-wrap wrap-anywhere">{textOf(message)}</p>
        </Part>
      ))}
      {work.tools.length > 0 ? (
        <Part title="Tools">
          <p className="font-mono text-xs wrap-anywhere">{work.tools.map(({ name }) => name).join(', ')}</p>
        </Part>
      ) : null}
      {before > 0 ? (
        <p className="text-xs text-muted">
          {before === 1 ? 'Turn 1 and the results' : `Turns 1 to ${before} and the results`} of its calls followed.
        </p>
      ) : null}
    </div>
  );
}

function textOf({ content }: AgentWork['messages'][number]): string {
  if (typeof content === 'string') return content;
  return content.flatMap(part => ('text' in part ? [part.text] : [])).join('\n');
}
