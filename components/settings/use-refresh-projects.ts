'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** The list, and the switch in the sidebar, which is filled from `me_get`. */
export function useRefreshProjects(): () => Promise<unknown> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all([
      queries.invalidateQueries(trpc.projects_list.queryFilter()),
      queries.invalidateQueries(trpc.me_get.queryFilter()),
    ]);
}
