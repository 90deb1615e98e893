import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { type Outputs, useTRPC } from '../../trpc/provider.tsx';
import type { RunValues } from '../code/completion-data.ts';

/** A result of a step, and the run or test that produced it. */
export type LastResult = {
  result: Json;
  runId: string;
  at: string;
  isTest: boolean;
  /** Whether the result is stored externally, so that its value is not available here. */
  isLarge: boolean;
};
/** The input of the last run or test of a workflow, and the newest result of each step. */
export type LastValues = { input: Json; results: ReadonlyMap<string, LastResult> };

type Run = Pick<Outputs['workflows_list_runs']['runs'][number], 'run_id' | 'started_at' | 'ended_at' | 'test'>;
type Recorded = {
  run: Run;
  context: Pick<Outputs['runs_get_context'], 'input' | 'steps'>;
  summary: { steps: readonly { step_id: string; status: string }[] };
};

/** The maximum number of runs to search for the results of earlier steps: a user may test some steps often before the next one. */
const MAX_RUNS = 20;
/** The number of runs that are read in parallel. */
const BATCH = 4;
/** The time for which the list of runs is cached, in ms. A started test reads it again. */
const LIST_STALE_MS = 60_000;

/**
 * Adds the results of an older run for steps that have no result yet. A skipped step has its configured result, which
 * is ignored.
 */
export function withOlder(values: LastValues, { run, context, summary }: Recorded): LastValues {
  const completed = new Set(summary.steps.filter(step => step.status === 'completed').map(({ step_id }) => step_id));
  const results = new Map(values.results);
  for (const [id, { result, result_ref }] of Object.entries(context.steps)) {
    if (results.has(id) || !completed.has(id)) continue;
    results.set(id, {
      result: result as Json,
      runId: run.run_id,
      at: run.started_at,
      isTest: run.test,
      isLarge: result_ref !== undefined,
    });
  }
  const hasInput = Object.keys(values.input as object).length > 0;
  return { input: hasInput ? values.input : (context.input as Json), results };
}

/** Returns the values for completion and previews. Pinned results have priority. */
export function toRunValues({ input, results }: LastValues, pins: Readonly<Record<string, Json>>): RunValues {
  const known = [...results].filter(([, { isLarge }]) => !isLarge).map(([id, { result }]) => [id, result] as const);
  return { input, results: new Map([...known, ...Object.entries(pins)]) };
}

/** Returns a function that reads the last values of a workflow, newest runs first, until every step of `wanted` has a value. */
export function useLastValues(workflowId: string): (wanted: readonly string[]) => Promise<LastValues> {
  const trpc = useTRPC();
  const client = useQueryClient();
  return useCallback(
    async wanted => {
      const readRun = async (run: Run): Promise<Recorded | null> => {
        const ref = { id: workflowId, runID: run.run_id };
        const options = { staleTime: run.ended_at === null ? 0 : Number.POSITIVE_INFINITY };
        try {
          const [context, summary] = await Promise.all([
            client.fetchQuery(trpc.runs_get_context.queryOptions(ref, options)),
            client.fetchQuery(trpc.runs_get_summary.queryOptions(ref, options)),
          ]);
          return { run, context, summary };
        } catch {
          return null; // it was deleted meanwhile
        }
      };
      let values: LastValues = { input: {}, results: new Map() };
      const { runs } = await client.fetchQuery(
        trpc.workflows_list_runs.queryOptions({ id: workflowId, limit: MAX_RUNS }, { staleTime: LIST_STALE_MS }),
      );
      for (let from = 0; from < runs.length; from += BATCH) {
        for (const recorded of await Promise.all(runs.slice(from, from + BATCH).map(readRun)))
          if (recorded !== null) values = withOlder(values, recorded);
        if (wanted.every(id => values.results.has(id))) break;
      }
      return values;
    },
    [workflowId, trpc, client],
  );
}
