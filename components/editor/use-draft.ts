'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { readError } from '../trpc/errors.ts';
import { ifMatch, type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { DraftSaver, type SaveState } from './draft-saver.ts';
import type { GraphProblem } from './locate-problem.ts';

export type Workflow = Outputs['workflows_get'];
export type Graph = Workflow['graph'];

export const formatGraph = (graph: Graph): string => `${JSON.stringify(graph, null, 2)}\n`;

/**
 * A text as a graph, or why it is none. Only the shape is checked: a draft may be incomplete
 * (docs/specification/workflows.md#drafts).
 */
export function parseGraph(text: string): { graph: Graph } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
  const steps = typeof value === 'object' && value !== null && 'steps' in value ? value.steps : undefined;
  if (!Array.isArray(steps)) return { problem: 'A graph is an object with a list named "steps".' };
  const bad = steps.findIndex(step => typeof step?.id !== 'string' || typeof step?.type !== 'string');
  return bad < 0 ? { graph: value as Graph } : { problem: `Step ${bad + 1} needs an "id" and a "type".` };
}

export type Draft = {
  text: string;
  /** The last text that was a graph. */
  graph: Graph;
  state: SaveState;
  edit: (text: string) => void;
  save: () => Promise<SaveState>;
  /** After a conflict: `mine` writes this text over what is stored, `theirs` takes what is stored. */
  resolve: (keep: 'mine' | 'theirs') => Promise<void>;
  /** Takes a workflow that the server just returned, as after restoring a version. */
  take: (workflow: Workflow) => void;
};

/** The draft of a workflow while it is edited: saved by itself, never over somebody else's change. */
export function useDraft(workflow: Workflow): Draft {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const id = workflow.id;
  const [text, setText] = useState(() => formatGraph(workflow.graph));
  const [graph, setGraph] = useState(workflow.graph);
  const [state, setState] = useState<SaveState>({ kind: 'saved' });
  const saver = useRef<DraftSaver | null>(null);
  saver.current ??= new DraftSaver({
    text,
    etag: workflow.etag,
    onState: setState,
    check: candidate => {
      const parsed = parseGraph(candidate);
      return 'problem' in parsed ? parsed.problem : null;
    },
    save: async (candidate, etag) => {
      const parsed = parseGraph(candidate);
      if ('problem' in parsed) return { kind: 'failed', error: new Error(parsed.problem) };
      try {
        const saved = await client.workflows_patch.mutate({ id, graph: parsed.graph }, { context: ifMatch(etag) });
        queryClient.setQueryData(trpc.workflows_get.queryKey({ id }), saved);
        return { kind: 'saved', etag: saved.etag };
      } catch (error) {
        return readError(error).status === 412 ? { kind: 'conflict' } : { kind: 'failed', error };
      }
    },
  });
  const current = saver.current;

  const show = useCallback((next: string) => {
    setText(next);
    const parsed = parseGraph(next);
    if ('graph' in parsed) setGraph(parsed.graph);
  }, []);
  const edit = useCallback(
    (next: string) => {
      show(next);
      current.edit(next);
    },
    [current, show],
  );
  const take = useCallback(
    (stored: Workflow) => {
      const next = formatGraph(stored.graph);
      show(next);
      current.reset(next, stored.etag);
      queryClient.setQueryData(trpc.workflows_get.queryKey({ id }), stored);
    },
    [current, show, queryClient, trpc, id],
  );
  const resolve = useCallback(
    async (keep: 'mine' | 'theirs') => {
      const stored = await client.workflows_get.query({ id });
      if (keep === 'mine') await current.overwrite(stored.etag);
      else take(stored);
    },
    [client, current, take, id],
  );
  const save = useCallback(() => current.flush(), [current]);
  useLeaveGuard(current);
  return { text, graph, state, edit, save, resolve, take };
}

/** Asks before the tab is closed on something unsaved, and saves at once when the page is left inside the console. */
function useLeaveGuard(saver: DraftSaver): void {
  useEffect(() => {
    const guard = (event: BeforeUnloadEvent) => {
      if (saver.dirty) event.preventDefault();
    };
    window.addEventListener('beforeunload', guard);
    return () => {
      window.removeEventListener('beforeunload', guard);
      void saver.flush();
    };
  }, [saver]);
}

export type Problem = GraphProblem & { severity: 'error' | 'warning' };

/** What the server finds in a graph, asked again when it stands still; `checking` while the answer is of an older one. */
export function useValidation(id: string, graph: Graph): { problems: Problem[]; checking: boolean; error: unknown } {
  const trpc = useTRPC();
  const settled = useDebounced(graph, 400);
  const client = useTRPCClient();
  const report = useQuery({
    queryKey: [...trpc.workflows_validate.mutationKey(), id, settled],
    queryFn: () => client.workflows_validate.mutate({ id, graph: settled }),
    placeholderData: previous => previous,
    gcTime: 10_000,
  });
  const problems: Problem[] = [
    ...(report.data?.errors ?? []).map(problem => ({ ...problem, severity: 'error' as const })),
    ...(report.data?.warnings ?? []).map(problem => ({ ...problem, severity: 'warning' as const })),
  ];
  return { problems, checking: report.isFetching || settled !== graph, error: report.error };
}
