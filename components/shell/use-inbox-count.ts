'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** Tasks waiting for a person in the tenant, as text ("3", "50+"); undefined while unknown or none, null if they cannot be read. */
export function useInboxCount(): string | null | undefined {
  const trpc = useTRPC();
  const { data, isError } = useQuery(
    trpc.tasks_list_pending.queryOptions({ limit: 50 }, { refetchInterval: 5_000, staleTime: 2_000 }),
  );
  if (isError) return null;
  if (!data || data.tasks.length === 0) return undefined;
  return data.next_cursor ? `${data.tasks.length}+` : String(data.tasks.length);
}
