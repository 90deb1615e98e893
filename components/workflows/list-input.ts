import type { Inputs } from '../trpc/provider.tsx';

const STATUSES = ['draft', 'published', 'archived'] as const;
export type Status = (typeof STATUSES)[number];
type Get = (key: string) => string;

/** Returns the status filter from the URL; empty: all workflows that are not archived. */
export function readStatus(get: Get): Status | '' {
  return STATUSES.find(each => each === get('status')) ?? '';
}

/** Returns the tag filter from the URL: a workflow must have all of these tags. Tags contain no commas. */
export function readTags(get: Get): string[] {
  return [...new Set(get('tags').split(','))].filter(tag => tag.trim() !== '');
}

/** Returns the query for the list of workflows, from the URL. The server also uses it for the first page it renders. */
export function workflowListInput(get: Get): Exclude<Inputs['workflows_list'], void> {
  const [q, status, folder, tags, cursor] = [get('q'), readStatus(get), get('folder'), readTags(get), get('cursor')];
  return {
    limit: 50,
    graphs: false,
    ...(q ? { q } : {}),
    ...(status ? { status } : {}),
    ...(folder ? { folder } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(cursor ? { cursor } : {}),
  };
}
