import type { Inputs } from '../trpc/provider.tsx';
import { isId } from '../ui/is-id.ts';

/** The filter of the list, from the search parameters of the page. Empty text and null match everything. */
export type InboxFilter = {
  view: 'waiting' | 'answered';
  workflow: string;
  project: string;
  q: string;
  /** True: only tasks that name the user, or only those that the user answered. */
  mine: boolean;
  dueWithinS: number | null;
};

const HOUR_S = 3_600;
/** The choices of the filter by due time, by their value in the URL. */
const DUE_WITHIN_S: ReadonlyMap<string, number> = new Map([
  ['hour', HOUR_S],
  ['day', 24 * HOUR_S],
  ['week', 7 * 24 * HOUR_S],
]);
/** The parameters that narrow the list. */
export const FILTER_KEYS = ['q', 'workflow_id', 'project_id', 'assignee', 'due'] as const;
const MAX_QUERY_CHARACTERS = 200;

/** Reads the filter from a URL. Invalid values filter nothing. */
export function readFilter(params: Pick<URLSearchParams, 'get'>): InboxFilter {
  const id = (key: string) => {
    const value = params.get(key) ?? '';
    return isId(value) ? value : '';
  };
  return {
    view: params.get('view') === 'answered' ? 'answered' : 'waiting',
    workflow: id('workflow_id'),
    project: id('project_id'),
    q: (params.get('q') ?? '').trim().slice(0, MAX_QUERY_CHARACTERS),
    mine: params.get('assignee') === 'me',
    dueWithinS: DUE_WITHIN_S.get(params.get('due') ?? '') ?? null,
  };
}

/** Returns true if a filter is set. */
export function isFiltered({ workflow, project, q, mine, dueWithinS }: InboxFilter): boolean {
  return workflow !== '' || project !== '' || q !== '' || mine || dueWithinS !== null;
}

/** Returns the query for waiting tasks. The server uses the same query for the first page that it renders. */
export function pendingTasksInput(
  { workflow, project, q, mine, dueWithinS }: InboxFilter,
  email: string,
): Exclude<Inputs['tasks_list_pending'], void> {
  return {
    limit: 200,
    ...(workflow ? { workflow_id: workflow } : {}),
    ...(project ? { project_id: project } : {}),
    ...(q ? { q } : {}),
    ...(mine ? { assignee: email } : {}),
    ...(dueWithinS === null ? {} : { due_within_s: dueWithinS }),
  };
}
