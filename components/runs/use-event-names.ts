import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useNamed } from '../graph/use-named.ts';
import { useTRPC } from '../trpc/provider.tsx';
import type { NameOf } from '../ui/json-tree.tsx';
import { eventNames } from './event-names.ts';
import type { Called } from './step-names.tsx';

/**
 * Returns the names for the ids in the data of events: steps of the graph, runs by their time, and workflows, agents,
 * instances, connections and members as far as the user may see them. `reads`: whether the data is shown, so that the
 * names are needed.
 */
export function useEventNames(called: Called, reads: boolean): NameOf {
  const trpc = useTRPC();
  const things = useNamed({ workflows: reads, agents: reads, instances: reads, connections: reads });
  const members = useQuery(trpc.members_list.queryOptions({ limit: 100 }, { enabled: reads, staleTime: 60_000 })).data
    ?.members;
  return useMemo(() => {
    const people = (members ?? []).map(({ user_id: id, name }) => ({ id, name }));
    return eventNames([...things, ...people], called);
  }, [called, members, things]);
}
