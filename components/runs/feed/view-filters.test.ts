import { expect, test } from 'vitest';
import { chosenOf } from './column-choice.ts';
import { readRunFilters, runListInput } from './read-run-filters.ts';
import { isShown, namesFilters, urlOfView } from './view-filters.ts';

const workflow = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';
const readerOf = (query: Partial<Record<string, string>>) => (key: string) => query[key] ?? '';

test.each([
  {},
  { q: 'night', status: 'failed', workflow_id: workflow, from: '2026-11-01', to: '2026-11-02', kind: 'test' },
  { q: 'order=4711', kind: 'all' },
  { status: 'paused' },
])('the saved filters of %j show the same list again', query => {
  const get = readerOf(query);
  const { limit: _, ...filters } = runListInput(get);
  const again = urlOfView(filters as Record<string, string>);
  expect(runListInput(readerOf(again))).toEqual(runListInput(get));
  expect(isShown(get, again)).toBe(true);
  expect(isShown(readerOf({ ...query, status: 'stopped' }), again)).toBe(false);
});

test('the default view is not opened if the URL has filters', () => {
  expect(namesFilters(readerOf({}))).toBe(false);
  expect(
    [{ q: 'x' }, { cursor: 'x' }, { view: 'x' }, { kind: 'all' }].every(query => namesFilters(readerOf(query))),
  ).toBe(true);
});

test('a view shows exactly its columns', () => {
  expect(chosenOf(['Status', 'order'], ['Status', 'Run'])).toEqual({ hidden: ['Run'], added: ['order'] });
});

test('the page of a workflow only lists its own runs', () => {
  expect(readRunFilters(readerOf({ q: 'x', workflow_id: 'odd' }), workflow)).toEqual({ q: 'x', workflow_id: workflow });
});
