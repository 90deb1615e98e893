'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';

/** Returns a function that reloads servers, tools and instances, because a change of one affects the others. */
export function useRefreshMcp(): () => Promise<unknown> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all(
      [
        trpc.mcp_servers_list.pathFilter(),
        trpc.mcp_servers_get.pathFilter(),
        trpc.mcp_servers_list_versions.pathFilter(),
        trpc.mcp_platform_catalog.pathFilter(),
        trpc.mcp_tools_list.pathFilter(),
        trpc.mcp_instances_list.pathFilter(),
        trpc.mcp_instances_get.pathFilter(),
        trpc.mcp_config_profiles_list.pathFilter(),
      ].map(filter => queries.invalidateQueries(filter)),
    );
}
