'use client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';

export type Ref = { workflowId: string; runId: string };
export type PayloadRef = { payload_id: string; bytes: number };

/** A section with a heading. `level` is 2 for a section outside a panel. */
export function Part({ title, level = 3, children }: { title: string; level?: 2 | 3; children: ReactNode }) {
  const Heading = level === 2 ? 'h2' : 'h3';
  return (
    <div className="flex flex-col gap-1">
      <Heading className="text-xs font-medium text-muted">{title}</Heading>
      {children}
    </div>
  );
}

type LargeValueProps = Ref & { title: string; reference: PayloadRef; level?: 2 | 3 };

/** A value that is too large for its event. It is fetched when a person asks for it. */
export function LargeValue({ workflowId, runId, title, reference, level }: LargeValueProps) {
  const trpc = useTRPC();
  const [open, setOpen] = useState(false);
  const payload = useQuery(
    trpc.runs_get_payload.queryOptions(
      { id: workflowId, runID: runId, payload_id: reference.payload_id },
      { enabled: open, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  return (
    <Part title={title} level={level}>
      {!open ? (
        <Button size="sm" onClick={() => setOpen(true)}>
          Show {Math.ceil(reference.bytes / 1024)} KiB
        </Button>
      ) : payload.isPending ? (
        <Skeleton className="h-20 w-full" />
      ) : payload.isError ? (
        <ErrorState error={payload.error} onRetry={() => void payload.refetch()} />
      ) : (
        <JsonTree label={title} value={payload.data.body as Json} open={1} />
      )}
    </Part>
  );
}

/** The input of a run, read from the first event of the run's log. */
export function RunInput({ workflowId, runId, label = 'Input' }: Ref & { label?: string }) {
  const trpc = useTRPC();
  const first = useQuery(
    trpc.runs_list_events.queryOptions(
      { id: workflowId, runID: runId, after: 0, limit: 1 },
      { staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  if (first.isError) return <ErrorState error={first.error} onRetry={() => void first.refetch()} />;
  if (first.isPending) return <Skeleton className="h-40 w-full" />;
  const data = first.data.events[0]?.data ?? {};
  const reference = data.input_ref as PayloadRef | undefined;
  if (reference)
    return <LargeValue workflowId={workflowId} runId={runId} title={label} reference={reference} level={2} />;
  return <JsonTree label={label} value={(data.input ?? {}) as Json} root="input" />;
}
