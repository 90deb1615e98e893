'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Choose } from '../../server/domains/workflows/edits/index.ts';
import { readError } from '../trpc/errors.ts';
import { type Inputs, ifMatch, type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import type { SaveState } from './draft-saver.ts';
import { type EditorState, EditorStore, type Stored } from './editor-store.ts';
import type { DraftGraph } from './graph-text.ts';
import type { GraphProblem } from './locate-problem.ts';
import { forgetUnfinished, keepUnfinished, readUnfinished } from './unfinished.ts';
import { toPeople } from './use-editors.ts';

export type Workflow = Outputs['workflows_get'];

/** The draft of a workflow while it is edited: its state, and what changes it. */
export type Draft = {
  state: EditorState;
  store: EditorStore;
  save: () => Promise<SaveState>;
  /** Ends a conflict by the side chosen for each part of it. */
  resolve: (choose: Choose) => Promise<SaveState>;
  /** Takes a workflow that the server just returned, as after restoring a version. */
  take: (workflow: Workflow) => void;
};

const storedOf = ({ name, description, graph, run_setup, etag }: Workflow): Stored => ({
  draft: { name, description, graph, run_setup } as Stored['draft'],
  etag,
});

/** The request that saves a draft. Its name and description are sent only where they changed: the audit log names what a request sets. */
function patchOf(id: string, base: Stored['draft'], draft: Stored['draft']): Inputs['workflows_patch'] {
  const { name, description } = draft;
  return {
    id,
    graph: draft.graph as Inputs['workflows_patch']['graph'],
    ...(name !== base.name && { name }),
    ...(description !== base.description && { description }),
  };
}

/** The draft of a workflow while it is edited: saved by itself, never over somebody else's change. */
export function useDraft(workflow: Workflow): Draft {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { id } = workflow;
  const [store] = useState(() => {
    const unfinished = readUnfinished(id);
    const stored = storedOf(workflow);
    const created = new EditorStore({
      // Unfinished JSON continues from the draft that it was typed over; saving it merges it with what came later.
      ...(unfinished ? { draft: { ...stored.draft, graph: unfinished.graph }, etag: unfinished.etag } : stored),
      read: async () => {
        const present = await client.workflows_get.query({ id });
        queryClient.setQueryData(trpc.workflows_get.queryKey({ id }), present);
        return storedOf(present);
      },
      readSavers: async since => {
        try {
          return toPeople((await client.workflows_list_editors.query({ id, since })).saved);
        } catch {
          return [];
        }
      },
      save: async (draft, etag) => {
        try {
          const saved = await client.workflows_patch.mutate(patchOf(id, created.base.draft, draft), {
            context: ifMatch(etag),
          });
          queryClient.setQueryData(trpc.workflows_get.queryKey({ id }), saved);
          return { kind: 'saved', etag: saved.etag };
        } catch (error) {
          return readError(error).status === 412 ? { kind: 'conflict' } : { kind: 'failed', error };
        }
      },
    });
    if (unfinished) created.typeText(unfinished.text);
    return created;
  });
  const state = useSyncExternalStore(
    useCallback(listener => store.subscribe(listener), [store]),
    () => store.state,
    () => store.state,
  );
  useUnfinishedText(id, store, state);
  useLeaveGuard(store);
  return useMemo(
    () => ({
      state,
      store,
      save: () => store.save(),
      resolve: choose => store.resolve(choose),
      take: stored => {
        store.take(storedOf(stored));
        queryClient.setQueryData(trpc.workflows_get.queryKey({ id: stored.id }), stored);
      },
    }),
    [state, store, queryClient, trpc],
  );
}

/** JSON that does not parse cannot be saved on the server; this browser keeps it until it does, or is discarded. */
function useUnfinishedText(id: string, store: EditorStore, { text, textProblem }: EditorState): void {
  useEffect(() => {
    if (textProblem === null || text === null) forgetUnfinished(id);
    else {
      const { draft, etag } = store.base;
      keepUnfinished(id, { text, etag, graph: draft.graph });
    }
  }, [id, store, text, textProblem]);
}

/** Asks before the tab is closed on something unsaved, and saves at once when the page is left inside the console. */
function useLeaveGuard(store: EditorStore): void {
  useEffect(() => {
    const guard = (event: BeforeUnloadEvent) => {
      if (store.dirty) event.preventDefault();
    };
    window.addEventListener('beforeunload', guard);
    return () => {
      window.removeEventListener('beforeunload', guard);
      void store.save();
    };
  }, [store]);
}

export type Problem = GraphProblem & { severity: 'error' | 'warning' };

export type Validation = {
  /** False for viewers, who may not ask: nothing is known of the draft then. */
  enabled: boolean;
  problems: Problem[];
  /** While the answer is of an older graph. */
  checking: boolean;
  error: unknown;
};

const numbers = new WeakMap<object, number>();
let graphsNumbered = 0;

/** The number of a graph object. For keys of queries: with a graph as the key, each rendering hashed all of it. */
function numberOf(graph: DraftGraph): number {
  const known = numbers.get(graph);
  if (known !== undefined) return known;
  graphsNumbered += 1;
  numbers.set(graph, graphsNumbered);
  return graphsNumbered;
}

/** Returns the problems that the server finds in a graph, and asks again once the graph has stopped changing. */
export function useValidation(id: string, draft: DraftGraph, enabled: boolean): Validation {
  const trpc = useTRPC();
  const settled = useDebounced(draft, 400);
  const client = useTRPCClient();
  const report = useQuery({
    queryKey: [...trpc.workflows_validate.mutationKey(), id, numberOf(settled)],
    queryFn: () =>
      client.workflows_validate.mutate({ id, graph: settled as NonNullable<Inputs['workflows_validate']['graph']> }),
    enabled,
    placeholderData: previous => previous,
    gcTime: 10_000,
  });
  const problems = useMemo(
    (): Problem[] => [
      ...(report.data?.errors ?? []).map(problem => ({ ...problem, severity: 'error' as const })),
      ...(report.data?.warnings ?? []).map(problem => ({ ...problem, severity: 'warning' as const })),
    ],
    [report.data],
  );
  return { enabled, problems, checking: report.isFetching || settled !== draft, error: report.error };
}
