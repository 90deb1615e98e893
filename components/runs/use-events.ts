'use client';
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import type { LiveRun } from './use-run.ts';

type Ref = { workflowId: string; runId: string };
/** The events that a list shows. `at` returns undefined for an event that is still loading. */
export type EventSource = {
  count: number;
  at: (index: number) => WireEvent | undefined;
  /** Whether more than `count` events match. `loadMore` loads them. */
  more: boolean;
  loadMore: () => void;
  pending: boolean;
  error: unknown;
  retry: () => void;
};

/** The number of events per page. A page of small events has 40 KB and fills 20 screens. */
const PAGE = 200;
const pageOf = (index: number): number => Math.floor(index / PAGE);

/** Returns whether both ranges of indexes need the same pages. */
export const samePages = (a: readonly [number, number], b: readonly [number, number]): boolean =>
  pageOf(a[0]) === pageOf(b[0]) && pageOf(a[1]) === pageOf(b[1]);

/**
 * Returns all events of a run. Only the pages in view are loaded; sequence numbers have no gaps, so an index determines its page.
 * `range` is the first and last visible index.
 */
export function useAllEvents({ workflowId, runId }: Ref, live: LiveRun, range: readonly [number, number]): EventSource {
  const trpc = useTRPC();
  const { snapshotSeq, events, state } = live;
  const first = pageOf(range[0]);
  const last = pageOf(Math.min(range[1], snapshotSeq - 1));
  const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  const pages = useQueries({
    queries: numbers.map(number =>
      trpc.runs_list_events.queryOptions(
        { id: workflowId, runID: runId, after: number * PAGE, limit: Math.min(PAGE, snapshotSeq - number * PAGE) },
        // Logged events never change.
        { staleTime: Number.POSITIVE_INFINITY },
      ),
    ),
  });
  const failed = pages.find(page => page.isError);
  return {
    count: state.lastSeq,
    at: index => {
      if (index >= snapshotSeq) return events[index - snapshotSeq];
      const page = pages[numbers.indexOf(pageOf(index))];
      return page?.data?.events[index % PAGE];
    },
    more: false,
    loadMore: () => undefined,
    pending: false,
    error: failed?.error ?? null,
    retry: () => void failed?.refetch(),
  };
}

/** Returns the events of a run that match a filter, oldest first, page by page. Live events are appended. */
export function useFilteredEvents(
  { workflowId, runId }: Ref,
  live: LiveRun,
  filter: { step: string; failuresOnly: boolean; q?: string },
): EventSource {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const enabled = filter.step !== '' || filter.failuresOnly || Boolean(filter.q);
  const input = {
    id: workflowId,
    runID: runId,
    limit: PAGE,
    ...(filter.step && { step_id: filter.step }),
    ...(filter.failuresOnly && { failures: 'true' as const }),
    ...(filter.q && { q: filter.q }),
  };
  const query = useInfiniteQuery({
    queryKey: [...trpc.runs_list_events.queryKey(input), 'pages'],
    // Called directly, because tRPC's infinite queries send a `direction` that the operation refuses.
    queryFn: ({ pageParam, signal }) =>
      client.runs_list_events.query({ ...input, ...(pageParam !== null && { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: page => page.next_cursor,
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data, hasNextPage } = query;
  const { events, revision } = live;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `events` grows in place; `revision` says when
  const shown = useMemo(() => {
    const loaded = data?.pages.flatMap(page => page.events) ?? [];
    if (data === undefined || hasNextPage) return loaded;
    const known = loaded.at(-1)?.seq ?? 0;
    const fresh = events.filter(
      event =>
        event.seq > known &&
        (filter.step === '' || event.step_id === filter.step) &&
        (!filter.failuresOnly || isFailure(event)) &&
        hasText(event, filter.q ?? ''),
    );
    return [...loaded, ...fresh];
  }, [data, hasNextPage, events, revision, filter.step, filter.failuresOnly, filter.q]);
  return {
    count: shown.length,
    at: index => shown[index],
    more: hasNextPage,
    loadMore: () => {
      if (!query.isFetchingNextPage) void query.fetchNextPage();
    },
    pending: enabled && query.isPending,
    error: query.error,
    retry: () => void query.refetch(),
  };
}

/** Returns whether the type, step or data of an event contains a text. The server searches in the same way. */
const hasText = ({ event_type, step_id = '', data }: WireEvent, text: string): boolean =>
  text === '' || `${event_type} ${step_id} ${JSON.stringify(data)}`.toLowerCase().includes(text.toLowerCase());

/** Returns whether the event reports a failed attempt. */
export const isFailure = (event: WireEvent): boolean =>
  event.event_type === 'step_failed' || event.event_type === 'step_retrying' || event.event_type === 'run_rejected';

/** Returns the events of one step: the first thousand logged events, and all live events. */
export function useStepEvents(ref: Ref, live: LiveRun, step: string): EventSource & { all: readonly WireEvent[] } {
  const source = useFilteredEvents(ref, live, { step, failuresOnly: false });
  const all = Array.from({ length: source.count }, (_, index) => source.at(index)).filter(each => each !== undefined);
  return { ...source, all };
}
