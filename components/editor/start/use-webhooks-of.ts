'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../../trpc/provider.tsx';

/** Returns the webhooks that start a workflow; empty for users who may not read webhooks. */
export function useWebhooksOf(workflowId: string, enabled: boolean) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.webhooks_list.queryOptions({ workflow_id: workflowId }, { enabled }));
  return data?.subscriptions ?? [];
}
