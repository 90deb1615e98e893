'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import type { PayloadRef, Ref } from './run-values.tsx';
import { type EventSource, useStepEvents } from './use-events.ts';
import type { LiveRun } from './use-run.ts';

/** A larger result is fetched only when a person asks for it. */
const MAX_FETCHED_BYTES = 256 * 1024;

export type StepResult = {
  events: ReturnType<typeof useStepEvents>;
  /** Undefined before the result exists, and for a result that is `large`. */
  value: unknown;
  large: PayloadRef | null;
  /** Whether the result is being fetched from the log. */
  pending: boolean;
  error: EventSource['error'];
  retry: () => void;
};

/** Returns the result of a step from its events. Steps that were added to the run have events too. */
export function useStepResult(ref: Ref, live: LiveRun, step: string): StepResult {
  const trpc = useTRPC();
  const events = useStepEvents(ref, live, step);
  const data = events.all.findLast(({ event_type }) => event_type === 'step_completed')?.data;
  const reference = (data?.result_ref as PayloadRef | undefined) ?? null;
  const isFetched = reference !== null && reference.bytes <= MAX_FETCHED_BYTES;
  const payload = useQuery(
    trpc.runs_get_payload.queryOptions(
      { id: ref.workflowId, runID: ref.runId, payload_id: reference?.payload_id ?? '' },
      { enabled: isFetched, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  return {
    events,
    value: reference === null ? data?.result : payload.data?.body,
    large: isFetched ? null : reference,
    pending: events.pending || (isFetched && payload.isPending),
    error: events.error ?? payload.error,
    retry: () => (events.error ? events.retry() : void payload.refetch()),
  };
}
