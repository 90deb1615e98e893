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

/** The values that can be read somewhere: everything that is known of it, and the last values that were there: pinned, or of the last run or test. */
export type KnownValues = { known: CompletionData; samples: CompletionData };
type Load = (path: readonly string[]) => Promise<KnownValues>;
const LoadContext = createContext<Load | null>(null);

type Props = {
  workflowId: string;
  draft: Draft;
  /** The loops around the steps whose fields are within it, the outermost first. */
  loop: readonly string[];
  children: ReactNode;
};

/** Lets the fields within it complete what the code of a step can read. */
export function CompletionProvider({ workflowId, draft, loop, children }: Props) {
  const lastValues = useLastValues(workflowId);
  const outputsOf = useCalledOutputs();
  const latest = useRef({ draft, loop });
  latest.current = { draft, loop };
  const load = useCallback<Load>(
    async path => {
      const { draft, loop } = latest.current;
      const { graph, run_setup } = draft.state.draft;
      // A field of the workflow itself, such as its output, reads every step.
      const readable =
        path[0] === '' ? { before: graph.steps, loops: [] } : readableAt(graph.steps, [...loop, ...path]);
      const wanted = readable.before.map(({ id }) => id);
      const [run, outputs] = await Promise.all([
        // Completion does without: the graph and the saved inputs say enough.
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

/** Every example of the input: kept with the workflow, and typed last in this browser. */
function inputsOf(workflowId: string, setup: { readonly [field: string]: Json }): unknown[] {
  const saved = Array.isArray(setup.saved_inputs)
    ? setup.saved_inputs.map(entry => (entry as { input?: Json }).input)
    : [];
  return [setup.trigger_payload, ...saved, lastInput(workflowId)];
}

/** Steps whose called workflows are read. */
const MAX_CALLS = 5;

/** Returns a function that reads examples of the outputs of the workflows that steps call, by the ids of the steps. */
function useCalledOutputs(): (steps: readonly Step[]) => Promise<ReadonlyMap<string, Json>> {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return useCallback(
    async steps => {
      const calls = steps.filter(step => step.type === 'call_workflow' && step.detach !== true).slice(0, MAX_CALLS);
      const read = async ({ id, workflow_id, version }: Step): Promise<[string, Json]> => {
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
          // A template, or a workflow that is gone: nothing is known of its output.
          return [id, null];
        }
      };
      return new Map(await Promise.all(calls.map(read)));
    },
    [trpc, queryClient],
  );
}

/**
 * Returns what completes the code of a step ('': of the workflow), or, with `isLoop`, of the steps within it; undefined outside of
 * the editor.
 */
export function useCompletion(step: string, isLoop: boolean): CompletionSource | undefined {
  const load = useContext(LoadContext);
  return useMemo(() => {
    if (load === null) return undefined;
    // The JSON of a loop is read as one of its steps reads, also where no step is around the place.
    const inner = (within: readonly string[]) => (within.length > 0 ? within : ['']);
    return {
      isLoop,
      load: async within => (await load(isLoop ? [step, ...inner(within)] : [step])).known,
    };
  }, [load, step, isLoop]);
}

/** Returns a function that reads what a field of a step ('': of the workflow) can read; null outside of the editor. */
export function useValues(step: string): (() => Promise<KnownValues>) | null {
  const load = useContext(LoadContext);
  return useMemo(() => (load === null ? null : () => load([step])), [load, step]);
}
