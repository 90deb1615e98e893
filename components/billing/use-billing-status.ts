'use client';
import { useQuery } from '@tanstack/react-query';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import type { BillingStatus } from './wire.ts';

/**
 * The status of the workspace's plan: one query for the page and the banner of the shell, once a minute, more often
 * while `poll` is set. `initial` came with the page. Viewers may not read it, and
 * where nothing is sold there is nothing to say: no request is sent then.
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
