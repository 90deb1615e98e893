'use client';
import { useQuery } from '@tanstack/react-query';
import type { Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Link } from '../ui/link.tsx';

const POLL_MS = 3_000;
/**
 * How long the page polls for the run of the handler. A handler normally starts within seconds. A refused start is retried for an
 * hour; a handler that starts so late is visible after a reload.
 */
const POLLED_FOR_MS = 10 * 60_000;

type Props = { snapshot: Snapshot; endedAt: number };

/** Links a failed run to the run of its failure handler, once the handler has started. */
export function FailureHandlerLink({ snapshot, endedAt }: Props) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { workflow_id: id, run_id: runID, failure_handler: known } = snapshot;
  const { data: handler } = useQuery({
    queryKey: [...trpc.runs_get_snapshot.pathKey(), 'failure handler', runID],
    queryFn: async () => (await client.runs_get_snapshot.query({ id, runID })).failure_handler,
    initialData: known,
    enabled: known === null,
    refetchInterval: ({ state }) => (state.data === null && Date.now() < endedAt + POLLED_FOR_MS ? POLL_MS : false),
  });
  if (handler === null) return 'Not started';
  return <RunLink run={handler}>Run of the failure handler</RunLink>;
}

/** A link to another run. */
export function RunLink({
  run,
  children,
}: {
  run: { run_id: string; workflow_id: string };
  children: React.ReactNode;
}) {
  return (
    <Link
      href={`/workflows/${run.workflow_id}/runs/${run.run_id}`}
      className="underline underline-offset-2 hover:text-ink"
    >
      {children}
    </Link>
  );
}
