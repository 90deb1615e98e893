'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** Returns a function that reads connections again after a change. */
export function useRefreshConnections(): () => Promise<void> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      queries.invalidateQueries(trpc.connections_list.queryFilter()),
      queries.invalidateQueries(trpc.connections_get.queryFilter()),
      queries.invalidateQueries(trpc.connections_credentials_get.queryFilter()),
      queries.invalidateQueries(trpc.connections_usage.queryFilter()),
      queries.invalidateQueries(trpc.connections_suite_account.queryFilter()),
    ]);
  };
}
