'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** The query key of searches. They are POST requests, and therefore not tRPC queries. */
export const SEARCH_KEY = 'memory_search';

/** Returns a function that reads memories again after a change. */
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
