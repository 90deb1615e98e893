'use client';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef } from 'react';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { lastInput } from '../../workflows/run-input.ts';
import { stepsBefore } from '../trial/step-test-data.ts';
import type { Draft } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import { type CompletionData, completionData, exampleOf, type RunValues } from './completion-data.ts';

type Load = (step: string) => Promise<CompletionData>;
const LoadContext = createContext<Load | null>(null);

/** How long the values of the last run are used, in ms. */
const RUN_STALE_MS = 60_000;

type Props = { workflowId: string; draft: Draft; editor: Editor; children: ReactNode };

/** Lets the fields within it complete what the code of a step can read. */
export function CompletionProvider({ workflowId, draft, editor, children }: Props) {
  const lastRun = useLastRun(workflowId);
  const latest = useRef({ draft, editor });
  latest.current = { draft, editor };
  const load = useCallback<Load>(
    async step => {
      const run = await lastRun();
      const { draft, editor } = latest.current;
      const { graph, run_setup } = draft.state.draft;
      // A field of the workflow itself, such as its output, reads every step.
      const readable = step === '' ? graph.steps.map(({ id }) => id) : stepsBefore(editor.drawing.edges, step);
      return completionData(graph.steps, readable, inputsOf(workflowId, graph, run_setup), run);
    },
    [workflowId, lastRun],
  );
  return <LoadContext value={load}>{children}</LoadContext>;
}

/** Every example of the input: declared, kept with the workflow, and typed last in this browser. */
function inputsOf(workflowId: string, graph: object, setup: { readonly [field: string]: Json }): unknown[] {
  const declared = 'input_schema' in graph ? [exampleOf(graph.input_schema)] : [];
  const saved = Array.isArray(setup.saved_inputs)
    ? setup.saved_inputs.map(entry => (entry as { input?: Json }).input)
    : [];
  return [...declared, setup.trigger_payload, ...saved, lastInput(workflowId)];
}

/** Returns a function that reads the values of the last run, once a minute; null where there is none or it cannot be read. */
function useLastRun(workflowId: string): () => Promise<RunValues | null> {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return useCallback(async () => {
    try {
      const options = { staleTime: RUN_STALE_MS };
      const { runs } = await queryClient.fetchQuery(
        trpc.workflows_list_runs.queryOptions({ id: workflowId, limit: 5 }, options),
      );
      const run = runs.find(({ status }) => status === 'completed') ?? runs[0];
      if (run === undefined) return null;
      const context = await queryClient.fetchQuery(
        trpc.runs_get_context.queryOptions({ id: workflowId, runID: run.run_id }, options),
      );
      const results = Object.entries(context.steps).map(([id, { result }]) => [id, result as Json] as const);
      return { input: context.input as Json, results: new Map(results) };
    } catch {
      // Completion does without: the graph and the saved inputs say enough.
      return null;
    }
  }, [workflowId, trpc, queryClient]);
}

/** Returns what loads the completion of a step's code ('': of the workflow's); undefined outside of the editor. */
export function useCompletion(step: string): (() => Promise<CompletionData>) | undefined {
  const load = useContext(LoadContext);
  return useMemo(() => (load ? () => load(step) : undefined), [load, step]);
}
