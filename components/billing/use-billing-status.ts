'use client';
import { useQuery } from '@tanstack/react-query';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import type { BillingStatus } from './wire.ts';

/**
 * Reads the status of the workspace's plan. The page and the shell's banner share one query, sent once a minute, or
 * more often while `poll` is set. `initial` came with the page. No request is sent for viewers, who may not read the
 * status, or if the deployment has no billing.
 */
export function useBillingStatus({ poll = false, initial }: { poll?: boolean; initial?: BillingStatus | null } = {}) {
  const trpc = useTRPC();
  const { canWrite } = usePermissions();
  const { billing } = useSession().me;
  return useQuery(
    trpc.billing_status.queryOptions(undefined, {
      enabled: canWrite && billing === 'on',
      ...(initial ? { initialData: initial } : {}),
      staleTime: poll ? 5_000 : 60_000,
      refetchInterval: poll ? 10_000 : 60_000,
    }),
  );
}
