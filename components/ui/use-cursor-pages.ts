'use client';
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';

/**
 * The pages of a list under each other, as far as they were asked for. Not tRPC's own infinite query: that sends a
 * `direction` along, which the operation refuses like any unknown field. `refetchMs` says in how many ms these pages are read again.
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
