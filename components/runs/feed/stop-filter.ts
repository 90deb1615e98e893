import type { Inputs } from '../../trpc/provider.tsx';
import { readRunFilters, runListInput } from './read-run-filters.ts';

type BulkFilter = Exclude<Inputs['runs_start_bulk'], void>['filter'];
export type StopFilter = Exclude<Inputs['runs_stop'], void>['filter'];

/**
 * Returns the filter of a bulk stop for the active runs that a page with these filters shows; null if the page shows only ended runs.
 * Without a workflow, both the list and the filter have only runs of workflows that people edit.
 */
export function stopFilterOf(get: (key: string) => string): StopFilter | null {
  const { status, workflow_id, from, to, test, q, field } = runListInput(get);
  if (status !== undefined && status !== 'running' && status !== 'paused') return null;
  return {
    ...(status && { status }),
    ...(workflow_id === undefined ? { kind: 'workflow' } : { workflow_ids: [workflow_id] }),
    ...(from && { from }),
    ...(to && { to }),
    ...(test && { test: test === 'true' }),
    ...(q && { q }),
    ...(field && { field }),
  };
}

/** Returns the filter of a bulk action for the runs that a page shows. The page of a workflow shows only its runs. */
export function bulkFilterOf(get: (key: string) => string, workflowId?: string): BulkFilter {
  const { status, workflow_id, from, to, test, q, field } = runListInput(get, readRunFilters(get, workflowId));
  return {
    ...(status && { status }),
    ...(workflow_id && { workflow_ids: [workflow_id] }),
    ...(from && { from }),
    ...(to && { to }),
    ...(test && { test: test === 'reruns' ? test : test === 'true' }),
    ...(q && { q }),
    ...(field && { field }),
  };
}
