import { expect, test } from 'vitest';
import { type FirstRead, startOf } from './first-read.ts';

const scope = { tenant: 'main', project: '019b76da-a800-7000-8000-000000000000' };
const first: FirstRead<'workflows_list'> = {
  input: { limit: 50, q: 'orders' },
  scope,
  at: 1,
  data: { workflows: [], next_cursor: null },
};

test('a query starts with the answer that the server read for it', () => {
  const read = { initialData: first.data, initialDataUpdatedAt: 1 };
  expect(startOf(first, { q: 'orders', limit: 50 }, { ...scope })).toEqual(read);
});

test('the answer to other filters, or of another project, is not shown', () => {
  expect(startOf(first, { limit: 50 }, scope)).toEqual({});
  expect(startOf(first, first.input, { ...scope, project: '019b76da-a800-7000-8000-000000000001' })).toEqual({});
  expect(startOf(first, first.input, { ...scope, tenant: 'other' })).toEqual({});
  expect(startOf<'workflows_list'>(null, first.input, scope)).toEqual({});
});
