'use client';
import { ChevronRight, FoldVertical } from 'lucide-react';
import { AnswerMarkdown } from './answer-markdown.tsx';
import type { Part } from './parts.ts';

type Data = Extract<Part, { type: 'data-summary' }>['data'];

/** Shows where older messages were summarized, and expands to the summary. */
export function SummaryNote({ data: { messages, text } }: { data: Data }) {
  return (
    <details className="group rounded-md border border-dashed">
      <summary className="flex cursor-default list-none items-center gap-1.5 px-2.5 py-1.5 text-sm text-muted hover:bg-hover">
        <FoldVertical aria-hidden className="size-3.5 shrink-0" />
        <span className="min-w-0 flex-1">
          {messages === 1 ? 'Summarized 1 message' : `Summarized ${messages.toLocaleString('en')} messages`}
          <span className="max-sm:hidden">: the model reads the summary instead</span>
        </span>
        <ChevronRight aria-hidden className="size-3.5 shrink-0 group-open:rotate-90" />
      </summary>
      <div className="border-t px-2.5 py-2 text-sm text-muted">
        <AnswerMarkdown text={text} />
      </div>
    </details>
  );
}
