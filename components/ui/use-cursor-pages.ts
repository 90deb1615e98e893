'use client';
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';

/**
 * Reads the requested pages of a list as one list. Not tRPC's own infinite query: it sends a `direction`, which the operation refuses like
 * any unknown field. `refetchMs`: the interval of refetching these pages.
 */
export function useCursorPages<Page extends { next_cursor: string | null }>(
  queryKey: QueryKey,
  read: (from: { cursor?: string }) => Promise<Page>,
  refetchMs: (pages: readonly Page[]) => number | false = () => false,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: cursor }) => read(cursor === null ? {} : { cursor }),
    initialPageParam: null as string | null,
    getNextPageParam: page => page.next_cursor,
    refetchInterval: query => refetchMs(query.state.data?.pages ?? []),
  });
}
