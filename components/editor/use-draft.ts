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

/** The draft of a workflow while it is edited: its state and its actions. */
export type Draft = {
  state: EditorState;
  store: EditorStore;
  save: () => Promise<SaveState>;
  /** Resolves a conflict with the side chosen for each part. */
  resolve: (choose: Choose) => Promise<SaveState>;
  /** Takes a workflow that the server just returned, such as after restoring a version. */
  take: (workflow: Workflow) => void;
};

const storedOf = ({ name, description, graph, run_setup, etag }: Workflow): Stored => ({
  draft: { name, description, graph, run_setup } as Stored['draft'],
  etag,
});

/**
 * Returns the request that saves a draft. Name, description and run setup are sent only if they changed, because the audit log lists the
 * fields of a request.
 */
function patchOf(id: string, base: Stored['draft'], draft: Stored['draft']): Inputs['workflows_patch'] {
  const { name, description } = draft;
  return {
    id,
    graph: draft.graph as Inputs['workflows_patch']['graph'],
    ...(name !== base.name && { name }),
    ...(description !== base.description && { description }),
    // The dialogs that change other fields of the run setup save them, after reading them again.
    ...(!sameJson(draft.run_setup, base.run_setup) && {
      run_setup: draft.run_setup as Inputs['workflows_patch']['run_setup'],
    }),
  };
}

/** Drafts whose page was left before everything was saved, by user and workflow. They keep saving, and their page reuses them. */
const leftDrafts = new Map<string, EditorStore>();

/** Returns the draft of a workflow, which saves automatically and never overwrites the changes of others. */
export function useDraft(workflow: Workflow): Draft {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { id } = workflow;
  const key = `${useSession().me.user.id}:${id}`;
  const [store] = useState(() => {
    const unsaved = leftDrafts.get(key);
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

/** Asks before a tab with unsaved edits is closed, and saves immediately when the user leaves the page inside the console. */
function useLeaveGuard(store: EditorStore, key: string): void {
  useEffect(() => {
    leftDrafts.delete(key);
    const guard = (event: BeforeUnloadEvent) => {
      if (store.dirty && !isLeaving()) event.preventDefault();
    };
    window.addEventListener('beforeunload', guard);
    return () => {
      window.removeEventListener('beforeunload', guard);
      if (store.dirty) leftDrafts.set(key, store);
      void store.save();
    };
  }, [store, key]);
}

/** Retries a failed save immediately when the browser is online again or the tab becomes visible. */
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
  /** False for viewers, who may not validate drafts; the problems are then unknown. */
  enabled: boolean;
  problems: Problem[];
  /** True while the answer is about an older graph. */
  checking: boolean;
  error: unknown;
  /** Whether a failed check is retried automatically. */
  isRetried: boolean;
  retry: () => void;
};

const CHECK_AGAIN_MS = 5_000;

const numbers = new WeakMap<object, number>();
let graphsNumbered = 0;

/** Returns a number that identifies a graph object in query keys: with the graph itself as the key, each render hashed the whole graph. */
function numberOf(graph: DraftGraph): number {
  const known = numbers.get(graph);
  if (known !== undefined) return known;
  graphsNumbered += 1;
  numbers.set(graph, graphsNumbered);
  return graphsNumbered;
}

/** Returns the problems that the server finds in a graph. Asks again after the graph has stopped changing. */
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
