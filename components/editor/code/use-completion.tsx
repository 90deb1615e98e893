'use client';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef } from 'react';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { useTRPC } from '../../trpc/provider.tsx';
import { lastInput } from '../../workflows/run-input.ts';
import { pinsOf } from '../trial/pins.ts';
import type { Draft } from '../use-draft.ts';
import { toRunValues, useLastValues } from '../values/last-results.ts';
import type { CompletionSource } from './completion.ts';
import { completionData, exampleOf, exampleOfOutput, sampleData } from './completion-data.ts';
import type { CompletionData } from './example-values.ts';
import { readableAt } from './readable.ts';

/**
 * The values that a field can read. `known` holds all known values, `samples` only the pinned values and the values of the last run or
 * test.
 */
export type KnownValues = { known: CompletionData; samples: CompletionData };
type Load = (path: readonly string[]) => Promise<KnownValues>;
const LoadContext = createContext<Load | null>(null);

type Props = {
  workflowId: string;
  draft: Draft;
  /** The loops around the edited steps, outermost first. */
  loop: readonly string[];
  children: ReactNode;
};

/** Provides completion data to the code fields inside it. */
export function CompletionProvider({ workflowId, draft, loop, children }: Props) {
  const lastValues = useLastValues(workflowId);
  const outputsOf = useCalledOutputs();
  const latest = useRef({ draft, loop });
  latest.current = { draft, loop };
  const load = useCallback<Load>(
    async path => {
      const { draft, loop } = latest.current;
      const { graph, run_setup } = draft.state.draft;
      // A field of the workflow itself, such as its output, can read every step.
      const readable =
        path[0] === '' ? { before: graph.steps, loops: [] } : readableAt(graph.steps, [...loop, ...path]);
      const wanted = readable.before.map(({ id }) => id);
      const [run, outputs] = await Promise.all([
        // Without last values, completion uses the graph and the saved inputs.
        lastValues(wanted).then(
          last => toRunValues(last, pinsOf(run_setup)),
          () => null,
        ),
        outputsOf(readable.before),
      ]);
      const inputs = inputsOf(workflowId, run_setup);
      const declared = 'input_schema' in graph ? [exampleOf(graph.input_schema)] : [];
      return {
        known: completionData(readable, { inputs: [...declared, ...inputs], run, outputs }),
        samples: sampleData(readable, { inputs, run }),
      };
    },
    [workflowId, lastValues, outputsOf],
  );
  return <LoadContext value={load}>{children}</LoadContext>;
}

/** Returns all example inputs: those saved with the workflow, and the last one typed in this browser. */
function inputsOf(workflowId: string, setup: { readonly [field: string]: Json }): unknown[] {
  const saved = Array.isArray(setup.saved_inputs)
    ? setup.saved_inputs.map(entry => (entry as { input?: Json }).input)
    : [];
  return [setup.trigger_payload, ...saved, lastInput(workflowId)];
}

/** The maximum number of steps whose called workflows are read. */
const MAX_CALLS = 5;

/** Returns a function that reads examples of the outputs of called workflows, by the ids of the calling steps. */
function useCalledOutputs(): (steps: readonly Step[]) => Promise<ReadonlyMap<string, Json>> {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return useCallback(
    async steps => {
      const calls = steps.filter(step => step.type === 'call_workflow' && step.detach !== true).slice(0, MAX_CALLS);
      const readOutput = async ({ id, workflow_id, version }: Step): Promise<[string, Json]> => {
        try {
          const called = String(workflow_id).toLowerCase();
          const { latest_version } = await queryClient.fetchQuery(trpc.workflows_get.queryOptions({ id: called }));
          const number = typeof version === 'number' ? version : latest_version;
          if (number === null) return [id, null];
          const options = { staleTime: Number.POSITIVE_INFINITY };
          const { graph_snapshot } = await queryClient.fetchQuery(
            trpc.workflows_get_version.queryOptions({ id: called, version: number }, options),
          );
          return [id, exampleOfOutput(graph_snapshot.output ?? null)];
        } catch {
          // The id of the workflow is a template, or the workflow no longer exists, so its output is unknown.
          return [id, null];
        }
      };
      return new Map(await Promise.all(calls.map(readOutput)));
    },
    [trpc, queryClient],
  );
}

/**
 * Returns the completion source of a step (or of the workflow for ''). With `isLoop`, returns the source for the steps inside the loop.
 * Returns undefined outside of the editor.
 */
export function useCompletion(step: string, isLoop: boolean): CompletionSource | undefined {
  const load = useContext(LoadContext);
  return useMemo(() => {
    if (load === null) return undefined;
    // Outside of all inner steps, the JSON of a loop has the values that a step in it could read.
    const inner = (within: readonly string[]) => (within.length > 0 ? within : ['']);
    return {
      isLoop,
      load: async within => (await load(isLoop ? [step, ...inner(within)] : [step])).known,
    };
  }, [load, step, isLoop]);
}

/** Returns a function that loads the values that a field of a step (or of the workflow for '') can read; null outside of the editor. */
export function useValues(step: string): (() => Promise<KnownValues>) | null {
  const load = useContext(LoadContext);
  return useMemo(() => (load === null ? null : () => load([step])), [load, step]);
}
