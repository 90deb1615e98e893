import { expect, test } from 'vitest';
import { isFiltered, readFilter } from './inbox-filter.ts';

const id = '019b76da-a800-7000-8000-000000000000';
const parseFilter = (query: string) => readFilter(new URLSearchParams(query));

test('the filter is read from the URL', () => {
  expect(parseFilter(`view=answered&workflow_id=${id}&project_id=${id}&q=+lamp+&assignee=me&due=day`)).toEqual({
    view: 'answered',
    workflow: id,
    project: id,
    q: 'lamp',
    mine: true,
    dueWithinS: 86_400,
  });
});

test('an invalid value is ignored', () => {
  const filter = parseFilter('view=x&workflow_id=x&project_id=1&assignee=you&due=never&q=');
  expect(filter).toEqual({ view: 'waiting', workflow: '', project: '', q: '', mine: false, dueWithinS: null });
  expect(isFiltered(filter)).toBe(false);
  expect(parseFilter(`q=${'x'.repeat(300)}`).q).toHaveLength(200);
});

test.each(['q=x', `workflow_id=${id}`, `project_id=${id}`, 'assignee=me', 'due=hour'])('%s is a filter', query => {
  expect(isFiltered(parseFilter(query))).toBe(true);
});
