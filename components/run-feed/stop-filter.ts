import type { Inputs } from '../trpc/provider.tsx';
import { runListInput } from './read-run-filters.ts';

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
