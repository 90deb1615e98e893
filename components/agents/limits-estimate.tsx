'use client';
import { useQuery } from '@tanstack/react-query';
import { useCreditsShown } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { creditsInWords } from '../ui/credits.tsx';
import { formatDuration } from '../ui/time.tsx';
import { spreadOf } from './agent-figures.ts';

const LAST_RUNS = 50;

/**
 * Shows the durations and costs of the agent's last runs as a guide to its limits; renders nothing before a run has
 * ended.
 */
export function LimitsEstimate({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const showsCredits = useCreditsShown();
  const { data } = useQuery(trpc.runs_list_tenant.queryOptions({ workflow_id: agentId, limit: LAST_RUNS }));
  const spread = data ? spreadOf(data.runs) : null;
  if (spread === null) return null;
  const { runs, ms, microcredits } = spread;
  const most = [formatDuration(ms.most), ...(showsCredits ? [creditsInWords(microcredits.most)] : [])].join(' and ');
  const half = [formatDuration(ms.median), ...(showsCredits ? [creditsInWords(microcredits.median)] : [])].join(
    ' and ',
  );
  return (
    <p className="mt-3 text-xs text-muted tabular-nums">
      {runs === 1
        ? `The last run took ${most}, including time spent waiting for people.`
        : `Of the last ${runs} runs, half took up to ${half}, and all took up to ${most}, including time spent waiting for people.`}
    </p>
  );
}
