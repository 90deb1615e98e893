import type { Inputs } from '../trpc/provider.tsx';

const STATUSES = ['draft', 'published', 'archived'] as const;
export type Status = (typeof STATUSES)[number];

/** The status that the URL asks for; empty for those that are not archived. */
export function readStatus(get: (key: string) => string): Status | '' {
  return STATUSES.find(each => each === get('status')) ?? '';
}

/** Returns the query for the list of workflows, from the URL. The server also uses it for the first page it renders. */
export function workflowListInput(get: (key: string) => string): Exclude<Inputs['workflows_list'], void> {
  const [q, status, cursor] = [get('q'), readStatus(get), get('cursor')];
  return {
    limit: 50,
    graphs: false,
    ...(q ? { q } : {}),
    ...(status ? { status } : {}),
    ...(cursor ? { cursor } : {}),
  };
}
