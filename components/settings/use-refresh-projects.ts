'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** Returns a function that reloads the list of projects, and the switch in the sidebar, which `me_get` fills. */
export function useRefreshProjects(): () => Promise<unknown> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all([
      queries.invalidateQueries(trpc.projects_list.queryFilter()),
      queries.invalidateQueries(trpc.me_get.queryFilter()),
    ]);
}
