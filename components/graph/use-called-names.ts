'use client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { kindsCalled } from './called-names.ts';
import type { GraphStepInput } from './layout.ts';

/** Names by ids. */
export type CalledNames = ReadonlyMap<string, string>;

const FRESH_MS = 60_000;

/**
 * Returns the names of the workflows and agents that the steps of a graph name by their ids; of the newest 200 and 100 that the
 * reader may see. Nothing is asked for a graph whose steps name none.
 */
export function useCalledNames(steps: readonly GraphStepInput[]): CalledNames {
  const trpc = useTRPC();
  const kinds = useMemo(() => kindsCalled(steps), [steps]);
  const workflows = useQuery(
    trpc.workflows_list.queryOptions({ limit: 200, graphs: false }, { enabled: kinds.workflows, staleTime: FRESH_MS }),
  );
  const agents = useQuery(
    trpc.agents_list.queryOptions({ limit: 100 }, { enabled: kinds.agents, staleTime: FRESH_MS }),
  );
  return useMemo(
    () =>
      new Map([...(workflows.data?.workflows ?? []), ...(agents.data?.agents ?? [])].map(({ id, name }) => [id, name])),
    [workflows.data, agents.data],
  );
}
