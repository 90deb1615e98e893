'use client';
import { useQuery } from '@tanstack/react-query';
import { useCreditsShown } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { formatDuration } from '../ui/time.tsx';
import { factsOf } from './call-events.ts';

/** The most events that are read for a call. A call is an ordinary step: few are tried more than a few times. */
const MAX_EVENTS = 50;

type Props = { workflowId: string; runId: string; step: string; isEnded: boolean };

/** How long a call took, what it cost, and how often it was tried, as the log of its run has it. */
export function CallFacts({ workflowId, runId, step, isEnded }: Props) {
  const trpc = useTRPC();
  const showsCredits = useCreditsShown();
  const log = useQuery(
    trpc.runs_list_events.queryOptions(
      { id: workflowId, runID: runId, step_id: step, limit: MAX_EVENTS },
      // What the log holds never changes.
      { enabled: isEnded, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const facts = log.data === undefined ? null : factsOf(log.data.events);
  if (facts === null) return null;
  const { ms, credits, attempts } = facts;
  const told = [
    formatDuration(ms),
    ...(showsCredits ? [creditsInWords(credits)] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ];
  return <p className="text-xs text-muted tabular-nums">{told.join(' · ')}</p>;
}
