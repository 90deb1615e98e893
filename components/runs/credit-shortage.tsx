'use client';
import { Coins } from 'lucide-react';
import type { RunState } from '@/server/domains/runs/reading/run-state.ts';
import { useSession } from '../session/session.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';

/** The code of every refusal for lack of credits. */
export const INSUFFICIENT_CREDITS = 'insufficient_credits';

/** Returns how a lack of credits affected a run; null if it did not. */
export function shortageOf(
  run: Pick<RunState, 'status' | 'pauseReason'>,
  errorCode: string | undefined,
): 'paused' | 'failed' | null {
  if (run.status === 'paused' && run.pauseReason === INSUFFICIENT_CREDITS) return 'paused';
  return errorCode === INSUFFICIENT_CREDITS ? 'failed' : null;
}

const NEXT = {
  paused: 'The run is paused before its next step. Nothing was lost. Resume it once there are credits again.',
  failed: 'The step was not started and cost nothing. Run again from this step once there are credits again.',
  refused: 'The run was not started. Start it once there are credits again. Your input is kept.',
};

/** Explains that a lack of credits paused, failed or refused a run, and what the user can do. */
export function CreditShortage({ kind, className }: { kind: keyof typeof NEXT; className?: string }) {
  const { billing } = useSession().me;
  return (
    <div
      role="alert"
      className={cx(
        'flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border border-warn/40 bg-warn-soft px-3 py-2 text-sm text-warn',
        className,
      )}
    >
      <Coins aria-hidden className="size-4 shrink-0" />
      <p className="min-w-60 flex-1">
        <span className="font-medium">The workspace has run out of credits.</span> {NEXT[kind]}
      </p>
      {billing === 'on' ? (
        <ButtonLink size="sm" href="/billing">
          Go to billing
        </ButtonLink>
      ) : null}
    </div>
  );
}
