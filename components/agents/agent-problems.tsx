'use client';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';

const MAX_SHOWN = 20;

/** Lists the last failed runs of an agent with their errors. */
export function AgentProblems({ agentId }: { agentId: string }) {
  const trpc = useTRPC();
  const list = useQuery(
    trpc.workflows_list_runs.queryOptions(
      { id: agentId, status: 'failed', limit: MAX_SHOWN },
      { refetchInterval: 10_000 },
    ),
  );
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton className="h-40 w-full" />;
  return (
    <Card flush>
      {list.data.runs.length === 0 ? (
        <EmptyState icon={CircleCheck} title="No failed runs">
          Failed runs of this agent appear here, with the reason.
        </EmptyState>
      ) : (
        <ul aria-label="Failed runs">
          {list.data.runs.map(run => (
            <li key={run.run_id} className="flex flex-wrap items-baseline gap-x-4 gap-y-1 border-b p-3 last:border-b-0">
              <Link
                href={`/workflows/${agentId}/runs/${run.run_id}`}
                className="min-w-0 flex-1 basis-60 text-sm hover:underline"
              >
                {run.error?.message ?? 'Failed'}
              </Link>
              {run.error ? <code className="text-xs text-muted">{run.error.code}</code> : null}
              <RelativeTime at={run.ended_at ?? run.started_at} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
