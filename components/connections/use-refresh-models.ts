'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { useRefreshConnections } from './use-refresh-connections.ts';

/**
 * Returns a function that reads model keys and the catalog again after a change. It also reads connections, because a
 * key is a connection.
 */
export function useRefreshModels(): () => Promise<void> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const refreshConnections = useRefreshConnections();
  return async () => {
    await Promise.all([
      queries.invalidateQueries(trpc.llm_provider_keys_list.queryFilter()),
      queries.invalidateQueries(trpc.llm_catalog_list.queryFilter()),
      refreshConnections(),
    ]);
  };
}
