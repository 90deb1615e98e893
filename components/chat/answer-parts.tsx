'use client';
import { ChevronRight } from 'lucide-react';
import dynamic from 'next/dynamic';
import { AnswerMarkdown } from './answer-markdown.tsx';
import { Call } from './call.tsx';
import { ContextNote, ProposalNote, TrialNote } from './data-parts.tsx';
import { type Part, withKeys } from './parts.ts';
import { SummaryNote } from './summary-note.tsx';

const UsedMemories = dynamic(() => import('../memory/used-memories.tsx').then(module => module.UsedMemories), {
  ssr: false,
});

type Props = { parts: readonly Part[]; workflowId: string; runId: string };

/** Shows the parts of an answer in order: text, folded reasoning, and each tool call on one line. */
export function AnswerParts({ parts, workflowId, runId }: Props) {
  return (
    <div className="flex flex-col gap-2">
      {withKeys(parts).map(([key, part]) => (
        <AnswerPart key={key} part={part} workflowId={workflowId} runId={runId} />
      ))}
    </div>
  );
}

function AnswerPart({ part, workflowId, runId }: { part: Part } & Omit<Props, 'parts'>) {
  switch (part.type) {
    case 'step-start':
      return null;
    case 'data-summary':
      return <SummaryNote data={part.data} />;
    case 'data-recall':
      return <UsedMemories runId={runId} stepId={part.id} count={part.data.memories} />;
    case 'data-outside':
      return <OutsideNote place={part.data.place} />;
    case 'text':
      return <AnswerMarkdown text={part.text} />;
    case 'reasoning':
      return part.text.trim() === '' ? null : <Reasoning text={part.text} />;
    case 'data-context':
      return <ContextNote data={part.data} />;
    case 'data-proposal':
      return <ProposalNote data={part.data} />;
    case 'data-trial':
      return <TrialNote data={part.data} />;
    case 'dynamic-tool':
      return <Call part={part} workflowId={workflowId} />;
  }
}

/** Shows that the agent has read text from outside. From then on, calls that write need an approval. */
function OutsideNote({ place }: { place: string }) {
  return (
    <p className="text-xs wrap-anywhere text-muted">
      Read text from outside, {place.replaceAll('`', '')}. It may contain instructions from a stranger.
    </p>
  );
}

function Reasoning({ text }: { text: string }) {
  return (
    <details className="group">
      <summary className="flex cursor-default list-none items-center gap-1 text-sm text-muted">
        <ChevronRight aria-hidden className="size-3.5 group-open:rotate-90" />
        Reasoning
      </summary>
      <p className="mt-1 border-l-2 pl-3 text-sm whitespace-pre-wrap wrap-anywhere text-muted">{text}</p>
    </details>
  );
}
