import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '../trpc/provider.tsx';

/** A workflow or another resource that steps refer to by id. */
export type Named = { id: string; name: string };
type Kind = 'workflows' | 'agents' | 'instances' | 'connections';

const PAGE = { limit: 200 } as const;
const FRESH_MS = 60_000;

/**
 * Returns the names of the objects of these kinds that the user may see: the newest 200 of each kind, and the newest
 * 100 agents. Objects of other projects and deleted objects are missing. Kinds that are not requested are not read.
 */
export function useNamed(kinds: Partial<Record<Kind, boolean>>): readonly Named[] {
  const trpc = useTRPC();
  const when = (kind: Kind) => ({ enabled: kinds[kind] === true, staleTime: FRESH_MS });
  const workflows = useQuery(trpc.workflows_list.queryOptions({ ...PAGE, graphs: false }, when('workflows'))).data;
  const agents = useQuery(trpc.agents_list.queryOptions({ limit: 100 }, when('agents'))).data;
  const instances = useQuery(trpc.mcp_instances_list.queryOptions(PAGE, when('instances'))).data;
  const connections = useQuery(trpc.connections_list.queryOptions(PAGE, when('connections'))).data;
  return useMemo(
    () => [
      ...(workflows?.workflows ?? []),
      ...(agents?.agents ?? []),
      ...(instances?.instances ?? []),
      ...(connections?.connections ?? []),
    ],
    [workflows, agents, instances, connections],
  );
}
