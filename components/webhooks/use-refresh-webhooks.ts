'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** Returns a function that reads webhooks and their deliveries again after a change. */
export function useRefreshWebhooks(): () => Promise<void> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      queries.invalidateQueries(trpc.webhooks_list.queryFilter()),
      queries.invalidateQueries(trpc.webhooks_get.queryFilter()),
      queries.invalidateQueries(trpc.webhooks_deliveries_list.queryFilter()),
    ]);
  };
}
