'use client';
import { CircleAlert, CloudCheck, LoaderCircle, PencilLine, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { readError } from '../trpc/errors.ts';
import { Button } from '../ui/button.tsx';
import type { Draft } from './use-draft.ts';

/** Whether the draft is saved, and what to do where it is not. Always visible: a lost edit is the worst thing an editor can do. */
export function SaveIndicator({ draft }: { draft: Draft }) {
  const state = draft.state.saveState;
  switch (state.kind) {
    case 'saved':
      return <Line icon={<CloudCheck aria-hidden className="size-4 text-ok" />} text="Saved" />;
    case 'unsaved':
      return <Line icon={<PencilLine aria-hidden className="size-4" />} text="Unsaved" />;
    case 'saving':
      return <Line icon={<LoaderCircle aria-hidden className="size-4 animate-spin" />} text="Saving…" />;
    case 'invalid':
      return (
        <Line
          tone="text-warn"
          icon={<TriangleAlert aria-hidden className="size-4" />}
          text={`Not saved: ${state.message}`}
        />
      );
    case 'failed':
      return (
        <Line
          tone="text-bad"
          icon={<CircleAlert aria-hidden className="size-4" />}
          text={`Not saved: ${readError(state.error).message}`}
        >
          <Button size="sm" onClick={() => void draft.save()}>
            Try again
          </Button>
        </Line>
      );
    case 'conflict':
      return (
        <Line
          tone="text-bad"
          icon={<CircleAlert aria-hidden className="size-4" />}
          text="Not saved: choose between your changes and someone else’s."
        />
      );
  }
}

function Line({
  icon,
  text,
  tone = 'text-muted',
  children,
}: {
  icon: ReactNode;
  text: string;
  tone?: string;
  children?: ReactNode;
}) {
  return (
    <div role="status" className={`flex min-h-7 flex-wrap items-center gap-2 text-xs ${tone}`}>
      {icon}
      <span className="min-w-0 wrap-anywhere">{text}</span>
      {children}
    </div>
  );
}
