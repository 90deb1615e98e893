'use client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';
import { type PaletteEntry, toolEntries } from './palette-entries.ts';

/** Each instance costs one request. In a project with more instances, only the first ones are read. */
const MAX_INSTANCES = 20;

/** Returns the tools of the project's MCP instances as entries. Requests them once `wanted` is true. */
export function useConnectedTools(wanted: boolean): { entries: PaletteEntry[]; isLoading: boolean } {
  const trpc = useTRPC();
  const list = useQuery(trpc.mcp_instances_list.queryOptions({ limit: MAX_INSTANCES }, { enabled: wanted }));
  const instances = list.data?.instances ?? [];
  const tools = useQueries({
    queries: instances.map(({ id }) =>
      trpc.mcp_tools_list.queryOptions({ instance_id: id, limit: 100 }, { enabled: wanted, staleTime: 60_000 }),
    ),
    combine: results => ({
      lists: results.map(({ data }) => data?.tools ?? []),
      isLoading: results.some(({ isLoading }) => isLoading),
    }),
  });
  const entries = useMemo(
    () => instances.flatMap((instance, at) => toolEntries(instance, tools.lists[at] ?? [])),
    [instances, tools.lists],
  );
  return { entries, isLoading: list.isLoading || tools.isLoading };
}
