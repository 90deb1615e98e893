import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useNamed } from '../graph/use-named.ts';
import { useTRPC } from '../trpc/provider.tsx';
import type { NameOf } from '../ui/json-tree.tsx';
import { runOf } from './run-of.tsx';
import type { Called } from './step-names.tsx';

const STEP_FIELDS: ReadonlySet<string | null> = new Set(['step_id', 'caused_by_step_id', 'from_step']);
const RUN_FIELDS: ReadonlySet<string | null> = new Set(['run_id', 'root_run_id', 'parent_run_id']);

/**
 * Returns the names of what the ids in the data of events stand for: steps of the graph, runs by their time, and workflows, agents,
 * instances, connections and members as far as the reader may see them. `reads`: whether data are shown, and names read for them.
 */
export function useEventNames(called: Called, reads: boolean): NameOf {
  const trpc = useTRPC();
  const things = useNamed({ workflows: reads, agents: reads, instances: reads, connections: reads });
  const members = useQuery(trpc.members_list.queryOptions({ limit: 100 }, { enabled: reads, staleTime: 60_000 })).data
    ?.members;
  return useMemo(() => {
    const names = new Map(things.map(({ id, name }) => [id, name]));
    for (const { user_id: id, name } of members ?? []) names.set(id, name);
    return (text, field) => {
      const name = names.get(text);
      if (name !== undefined) return name;
      if (RUN_FIELDS.has(field)) return runOf(text);
      // Results have fields of these names, too: only what is a step of the run has another name than its id.
      const isStep = STEP_FIELDS.has(field) || (field === 'id' && text.includes('.'));
      return isStep && called(text) !== text ? called(text) : undefined;
    };
  }, [called, members, things]);
}
