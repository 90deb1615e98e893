'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** The key of searches, which are sent as POST and so are no queries of tRPC. */
export const SEARCH_KEY = 'memory_search';

/** Reads memories again, after a change. */
export function useRefreshMemory(): () => Promise<void> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      queries.invalidateQueries(trpc.memory_items_list.queryFilter()),
      queries.invalidateQueries(trpc.memory_items_get.queryFilter()),
      queries.invalidateQueries(trpc.memory_health.queryFilter()),
      queries.invalidateQueries({ queryKey: trpc.memory_export.pathKey() }),
      queries.invalidateQueries({ queryKey: [SEARCH_KEY] }),
    ]);
  };
}
