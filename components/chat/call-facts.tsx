'use client';
import { useQuery } from '@tanstack/react-query';
import { useCreditsShown } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { formatDuration } from '../ui/time.tsx';
import { factsOf } from './call-events.ts';

/** The maximum number of events that are read for a call, enough for many attempts. */
const MAX_EVENTS = 50;

type Props = { workflowId: string; runId: string; step: string; isEnded: boolean };

/** Shows the duration, cost and attempts of a call from the log of its run. */
export function CallFacts({ workflowId, runId, step, isEnded }: Props) {
  const trpc = useTRPC();
  const showsCredits = useCreditsShown();
  const log = useQuery(
    trpc.runs_list_events.queryOptions(
      { id: workflowId, runID: runId, step_id: step, limit: MAX_EVENTS },
      // The log of an ended step never changes.
      { enabled: isEnded, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const facts = log.data === undefined ? null : factsOf(log.data.events);
  if (facts === null) return null;
  const { ms, credits, attempts } = facts;
  const parts = [
    formatDuration(ms),
    ...(showsCredits ? [creditsInWords(credits)] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ];
  return <p className="text-xs text-muted tabular-nums">{parts.join(' · ')}</p>;
}
