'use client';
import { CircleAlert, CloudCheck, CloudOff, LoaderCircle, PencilLine, TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import type { SaveState } from './draft-saver.ts';
import { describeSaveFailure } from './save-failure-words.ts';
import type { Draft } from './use-draft.ts';

type Look = { icon: ReactNode; tone: string; text: string; rest?: ReactNode };

/**
 * Shows whether the draft is saved, and what happens if it is not. Always visible while the user types, because a lost edit is the worst
 * failure of an editor. All states have the same height; `compact` is one line for a toolbar.
 */
export function SaveIndicator({ draft, compact = false }: { draft: Draft; compact?: boolean }) {
  const state = draft.state.saveState;
  const { icon, tone, text, rest } = lookOf(state);
  return (
    <div className={cx('flex min-w-0 items-center gap-2 text-xs', compact ? 'h-7' : 'h-9', tone)}>
      {icon}
      {/* The title shows the whole text if it is truncated. */}
      <p className={cx('min-w-0', compact ? 'truncate' : 'line-clamp-2 wrap-anywhere')} title={text}>
        <span role="status">{text}</span>
        {rest}
      </p>
      {state.kind === 'failed' ? (
        <Button size="sm" onClick={() => void draft.save()}>
          Save now
        </Button>
      ) : null}
    </div>
  );
}

function lookOf(state: SaveState): Look {
  switch (state.kind) {
    case 'saved':
      return {
        icon: <CloudCheck aria-hidden className="size-4 shrink-0 text-ok" />,
        tone: 'text-muted',
        text: 'Saved',
      };
    case 'unsaved':
      return { icon: <PencilLine aria-hidden className="size-4 shrink-0" />, tone: 'text-muted', text: 'Unsaved' };
    case 'saving':
      return {
        icon: <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin" />,
        tone: 'text-muted',
        text: 'Saving…',
      };
    case 'invalid':
      return {
        icon: <TriangleAlert aria-hidden className="size-4 shrink-0" />,
        tone: 'text-warn',
        text: `Not saved: ${state.message}`,
      };
    case 'failed': {
      const icon = <CloudOff aria-hidden className="size-4 shrink-0" />;
      const text = describeSaveFailure(state);
      return state.retryAt === null
        ? { icon, tone: 'text-bad', text }
        : { icon, tone: 'text-bad', text, rest: <Countdown key={state.retryAt} until={state.retryAt} /> };
    }
    case 'conflict':
      return {
        icon: <CircleAlert aria-hidden className="size-4 shrink-0" />,
        tone: 'text-bad',
        text: 'Not saved: choose between your changes and someone else’s.',
      };
  }
}

/** The seconds until the next retry. Hidden from screen readers, which would announce every second. */
function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  return (
    <span aria-hidden className="tabular-nums">
      {' '}
      in {seconds} s
    </span>
  );
}
