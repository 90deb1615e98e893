import { expect, test } from 'vitest';
import { bulkFilterOf, stopFilterOf } from './stop-filter.ts';

const stopFilterFor = (query: Record<string, string>) => stopFilterOf(key => query[key] ?? '');
const workflow = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';

test('a bulk stop applies to the active runs that the page shows', () => {
  expect(stopFilterFor({})).toEqual({ kind: 'workflow', test: false });
  expect(stopFilterFor({ kind: 'all', q: 'night', cursor: 'x' })).toEqual({ kind: 'workflow', q: 'night' });
  expect(stopFilterFor({ workflow_id: workflow, status: 'paused', kind: 'test', q: 'order=7' })).toEqual({
    workflow_ids: [workflow],
    status: 'paused',
    test: true,
    field: 'order=7',
  });
  expect(stopFilterFor({ status: 'failed' })).toBeNull();
});

test('days are days in the time zone of the browser', () => {
  expect(stopFilterFor({ from: '2026-11-01', to: '2026-11-02' })).toMatchObject({
    from: new Date('2026-11-01T00:00:00').toISOString(),
    to: new Date('2026-11-02T23:59:59.999').toISOString(),
  });
});

test('a bulk action applies to all runs that the page shows', () => {
  const bulk = (query: Record<string, string>, id?: string) => bulkFilterOf(key => query[key] ?? '', id);
  expect(bulk({})).toEqual({ test: 'reruns' });
  expect(bulk({ kind: 'all', q: 'night', cursor: 'x', status: 'failed' })).toEqual({ q: 'night', status: 'failed' });
  expect(bulk({ kind: 'test', q: 'order=7', workflow_id: workflow })).toEqual({
    test: true,
    field: 'order=7',
    workflow_ids: [workflow],
  });
  // The page of a workflow has the same filters, but ignores the workflow in the URL.
  const other = workflow.replace('0198', '0199');
  expect(bulk({ q: 'night', status: 'failed', workflow_id: other }, workflow)).toEqual({
    test: 'reruns',
    q: 'night',
    status: 'failed',
    workflow_ids: [workflow],
  });
});
