import { expect, test } from 'vitest';
import { camelCased } from './rows.ts';

test('columns get the names of fields, and keep their values', () => {
  const created = new Date(0);
  const rows = [
    { id: 'a', created_at: created, created_by_pat_id: null, acts_for: { user_id: 'u' } },
    { id: 'b', created_at: created, created_by_pat_id: 'c', acts_for: null },
  ];
  expect(camelCased(rows)).toEqual([
    { id: 'a', createdAt: created, createdByPatId: null, actsFor: { user_id: 'u' } },
    { id: 'b', createdAt: created, createdByPatId: 'c', actsFor: null },
  ]);
  expect(camelCased([])).toEqual([]);
});
