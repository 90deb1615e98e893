import type { Inputs } from '../../trpc/provider.tsx';
import { readRunFilters, runListInput } from './read-run-filters.ts';

type BulkFilter = Exclude<Inputs['runs_start_bulk'], void>['filter'];
export type StopFilter = Exclude<Inputs['runs_stop'], void>['filter'];

/**
 * Returns which active runs a page with these filters shows, as a bulk stop takes them; null if it shows runs that have
 * ended alone. A list without a workflow has only runs of workflows that people edit, and so has the filter.
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

/** Returns which runs a page shows, as a bulk action takes them; of a workflow's page, the runs of that workflow. */
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
