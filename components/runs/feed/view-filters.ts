import { isRunStatus } from './read-run-filters.ts';

/** The URL parameters of the list's filters. A view sets all of them. */
const KEYS = ['q', 'status', 'workflow_id', 'from', 'to', 'kind'] as const;
export type UrlFilters = Record<(typeof KEYS)[number], string>;

/** Returns whether the URL has filters, a view or a page. If so, the default view is not opened. */
export const namesFilters = (get: (key: string) => string): boolean =>
  [...KEYS, 'view', 'cursor'].some(key => get(key) !== '');

/** Returns the filters of a view as URL parameters. Days are days in the browser's time zone. */
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

/** Returns whether the URL has exactly these filters. */
export const isShown = (get: (key: string) => string, filters: UrlFilters): boolean =>
  KEYS.every(key => get(key) === filters[key]);

function dayOf(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return '';
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
