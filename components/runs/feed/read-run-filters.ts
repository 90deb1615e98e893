import { RUN_STATUSES } from '@/server/orchestrator/core/events.ts';
import { readFieldFilter } from '@/server/orchestrator/core/searchable.ts';
import type { Inputs } from '../../trpc/provider.tsx';
import { isDay } from '../../ui/calendar-day.ts';
import { isId } from '../../ui/is-id.ts';

type Query = Exclude<Inputs['runs_list_tenant'], void>;
type Filters = Pick<Query, 'q' | 'field' | 'status' | 'workflow_id' | 'from' | 'to' | 'test'>;

/**
 * Returns the filters in the URL in the form of the API. Malformed filters are left out. The search box also accepts `name=value` of a
 * searchable field. Days are days in the browser's time zone; the last day is included. The page of a workflow lists only its runs.
 */
export function readRunFilters(get: (key: string) => string, workflowId?: string): Filters {
  const status = RUN_STATUSES.find(each => each === get('status'));
  const [q, workflow, from, to] = [get('q'), workflowId ?? get('workflow_id'), get('from'), get('to')];
  return {
    ...(q ? (readFieldFilter(q) === null ? { q } : { field: q }) : {}),
    ...(status ? { status } : {}),
    ...(isId(workflow) ? { workflow_id: workflow } : {}),
    ...(isDay(from) ? { from: new Date(`${from}T00:00:00`).toISOString() } : {}),
    ...(isDay(to) ? { to: new Date(`${to}T23:59:59.999`).toISOString() } : {}),
  };
}

/** Returns whether a text is the status of a run. */
export const isRunStatus = (text: string): boolean => RUN_STATUSES.some(each => each === text);

export type Kind = '' | 'test' | 'all';
/** The kinds of listed runs: runs of versions, test runs of drafts, or both. */
export const KINDS: readonly { value: Kind; label: string }[] = [
  { value: '', label: 'Without test runs' },
  { value: 'test', label: 'Test runs only' },
  { value: 'all', label: 'With test runs' },
];
export const kindOf = (get: (key: string) => string): Kind =>
  KINDS.find(({ value }) => value === get('kind'))?.value ?? '';

/** Returns the filter for test runs. By default they are not listed. */
function readRunKind(get: (key: string) => string): Pick<Filters, 'test'> {
  const kind = kindOf(get);
  // A run that continues another run with the draft is not a test of the draft.
  return kind === 'all' ? {} : { test: kind === 'test' ? 'true' : 'reruns' };
}

/**
 * Returns the query of the list of runs for the filters of the URL. The server uses the same query for the first page
 * that it renders.
 */
export function runListInput(get: (key: string) => string, filters: Filters = readRunFilters(get)): Query {
  const cursor = get('cursor');
  return { limit: 50, ...filters, ...readRunKind(get), ...(cursor ? { cursor } : {}) };
}
