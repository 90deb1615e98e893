import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';
import { type Names, namesOf } from './object-names.ts';

const page = { limit: 200 } as const;

/**
 * Returns the names of the workflows, instances and connections that the reader may see, for the ids that steps refer to them by.
 * Those of other projects, and what was deleted, are not among them.
 */
export function useObjectNames(enabled: boolean): Names {
  const trpc = useTRPC();
  const options = { enabled, staleTime: 60_000 };
  const workflows = useQuery(trpc.workflows_list.queryOptions({ ...page, graphs: false }, options));
  const instances = useQuery(trpc.mcp_instances_list.queryOptions(page, options));
  const connections = useQuery(trpc.connections_list.queryOptions(page, options));
  return useMemo(
    () =>
      namesOf([
        ...(workflows.data?.workflows ?? []),
        ...(instances.data?.instances ?? []),
        ...(connections.data?.connections ?? []),
      ]),
    [workflows.data, instances.data, connections.data],
  );
}
