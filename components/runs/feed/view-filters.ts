import { isRunStatus } from './read-run-filters.ts';

/** The filters of the list in the URL, all of which a view sets. */
const KEYS = ['q', 'status', 'workflow_id', 'from', 'to', 'kind'] as const;
export type UrlFilters = Record<(typeof KEYS)[number], string>;

/** Whether the URL names filters, a view or a page: the list then opens with those, and not with the default view. */
export const namesFilters = (get: (key: string) => string): boolean =>
  [...KEYS, 'view', 'cursor'].some(key => get(key) !== '');

/** Returns the parameters of the URL that stand for the filters of a view. Days are those of the browser. */
export function urlOfView(filters: Readonly<Record<string, string>>): UrlFilters {
  const { q = '', field = '', status = '', workflow_id = '', from = '', to = '', test } = filters;
  return {
    q: field || q,
    status: isRunStatus(status) ? status : '',
    workflow_id,
    from: dayOf(from),
    to: dayOf(to),
    kind: test === 'true' ? 'test' : test === undefined ? 'all' : '',
  };
}

/** Whether the URL has exactly these filters. */
export const isShown = (get: (key: string) => string, filters: UrlFilters): boolean =>
  KEYS.every(key => get(key) === filters[key]);

function dayOf(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return '';
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
