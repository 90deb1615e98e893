import { expect, test } from 'vitest';
import type { Conflict } from '../../server/domains/workflows/edits/index.ts';
import { changeOfSide, groupConflicts } from './conflict-groups.ts';

const conflict = (step: string | null, field: string | null): Conflict => ({ step, field, ours: 1, theirs: 2 });

test('conflicts are grouped by step, in their order', () => {
  const [name, script, note, other] = [
    conflict('a', 'name'),
    conflict('a', 'script'),
    conflict(null, 'notes.n'),
    conflict('b', null),
  ];
  expect(groupConflicts([name, other, script, note])).toEqual([
    { step: 'a', conflicts: [name, script] },
    { step: 'b', conflicts: [other] },
    { step: null, conflicts: [note] },
  ]);
});

test('a side added, changed or removed the part', () => {
  expect(changeOfSide({ step: 'a', field: 'name', base: 1, ours: 2, theirs: 3 }, 'ours')).toBe('changed');
  expect(changeOfSide({ step: 'a', field: 'name', ours: 2, theirs: 3 }, 'theirs')).toBe('added');
  expect(changeOfSide({ step: 'a', field: null, base: 1, ours: 2 }, 'theirs')).toBe('removed');
});
