'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { type Choose, sameJson } from '../../server/domains/workflows/edits/index.ts';
import type { GraphProblem } from '../code/locate-problem.ts';
import { useSession } from '../session/session.tsx';
import { type Inputs, ifMatch, type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { isLeaving } from '../trpc/session-gate.ts';
import { readError } from '../ui/errors.ts';
import { useDebounced } from '../ui/use-debounced.ts';
import type { SaveState } from './draft-saver.ts';
import { type EditorState, EditorStore, type Stored } from './editor-store.ts';
import type { DraftGraph } from './graph-text.ts';
import { retryAfterMs } from './save-failure.ts';
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

/** The request that saves a draft. Its name, description and run setup are sent only where they changed: the audit log names what a request sets. */
function patchOf(id: string, base: Stored['draft'], draft: Stored['draft']): Inputs['workflows_patch'] {
  const { name, description } = draft;
  return {
    id,
    graph: draft.graph as Inputs['workflows_patch']['graph'],
    ...(name !== base.name && { name }),
    ...(description !== base.description && { description }),
    // Its other fields are saved by the dialogs that change them, which read them anew.
    ...(!sameJson(draft.run_setup, base.run_setup) && {
      run_setup: draft.run_setup as Inputs['workflows_patch']['run_setup'],
    }),
  };
}

/** Drafts whose page was left before all was saved, by person and workflow: they go on, and their page takes them up again. */
const left = new Map<string, EditorStore>();

/** The draft of a workflow while it is edited: saved by itself, never over somebody else's change. */
export function useDraft(workflow: Workflow): Draft {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { id } = workflow;
  const key = `${useSession().me.user.id}:${id}`;
  const [store] = useState(() => {
    const unsaved = left.get(key);
    if (unsaved?.dirty) return unsaved;
    const created: EditorStore = new EditorStore({
      ...storedOf(workflow),
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
          if (readError(error).status === 412) return { kind: 'conflict' };
          return { kind: 'failed', error, retryAfterMs: retryAfterMs(error) };
        }
      },
    });
    return created;
  });
  const state = useSyncExternalStore(
    useCallback(listener => store.subscribe(listener), [store]),
    () => store.state,
    () => store.state,
  );
  useLeaveGuard(store, key);
  useEarlyRetry(store);
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

/** Asks before the tab is closed on something unsaved, and saves at once when the page is left inside the console. */
function useLeaveGuard(store: EditorStore, key: string): void {
  useEffect(() => {
    left.delete(key);
    const guard = (event: BeforeUnloadEvent) => {
      if (store.dirty && !isLeaving()) event.preventDefault();
    };
    window.addEventListener('beforeunload', guard);
    return () => {
      window.removeEventListener('beforeunload', guard);
      if (store.dirty) left.set(key, store);
      void store.save();
    };
  }, [store, key]);
}

/** Tries a failed save again at once when the browser is connected, or the tab looked at, again. */
function useEarlyRetry(store: EditorStore): void {
  useEffect(() => {
    const retry = () => void (document.visibilityState === 'visible' && store.retry());
    window.addEventListener('online', retry);
    document.addEventListener('visibilitychange', retry);
    return () => {
      window.removeEventListener('online', retry);
      document.removeEventListener('visibilitychange', retry);
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
  /** Whether a failed check is tried again by itself. */
  isRetried: boolean;
  retry: () => void;
};

const CHECK_AGAIN_MS = 5_000;

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
    retry: false,
    refetchInterval: ({ state }) => (isWorthRepeating(state.error) ? CHECK_AGAIN_MS : false),
  });
  const problems = useMemo(
    (): Problem[] => [
      ...(report.data?.errors ?? []).map(problem => ({ ...problem, severity: 'error' as const })),
      ...(report.data?.warnings ?? []).map(problem => ({ ...problem, severity: 'warning' as const })),
    ],
    [report.data],
  );
  return {
    enabled,
    problems,
    checking: report.isFetching || settled !== draft,
    error: report.error,
    isRetried: isWorthRepeating(report.error),
    retry: () => void report.refetch(),
  };
}

const isWorthRepeating = (error: unknown): boolean => error !== null && retryAfterMs(error) !== null;
