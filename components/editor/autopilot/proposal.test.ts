import { expect, test } from 'vitest';
import type { StepChange } from '../../../server/domains/workflows/edits/index.ts';
import { changesOutside, describeCheck, firstChecks, readCheck, withNeeded } from './proposal.ts';

const added = (id: string, ...depends_on: string[]): StepChange => ({
  change: 'added',
  step: id,
  after: { id, type: 'lua_script', depends_on },
});
const changes: StepChange[] = [
  added('first'),
  added('second', 'first', 'there'),
  { change: 'changed', step: 'there', fields: [{ field: 'then', after: ['second'] }] },
  { change: 'changed', step: 'named', fields: [{ field: 'name', after: 'first' }] },
  { change: 'removed', step: 'gone', before: { id: 'gone', type: 'lua_script' } },
];

test('choosing a step also chooses the new steps that it refers to', () => {
  const needed = (...ids: string[]) => [...withNeeded(changes, new Set(ids))].sort();
  expect(needed('second')).toEqual(['first', 'second']);
  expect(needed('there')).toEqual(['first', 'second', 'there']);
  expect(needed('named')).toEqual(['named']);
  expect(needed('gone')).toEqual(['gone']);
  expect(needed()).toEqual([]);
});

test('a check is sent only with the fields of its operator', () => {
  const text = { step: 'sum', path: ' items[0] ', op: 'equals', value: '12' } as const;
  expect(readCheck(text)).toEqual({ step: 'sum', path: 'items[0]', op: 'equals', value: 12 });
  expect(readCheck({ ...text, op: 'contains', value: 'a "b' })).toMatchObject({ value: 'a "b' });
  expect(readCheck({ ...text, op: 'exists' })).toEqual({ step: 'sum', path: 'items[0]', op: 'exists' });
  expect(readCheck({ ...text, op: 'completed' })).toEqual({ step: 'sum', op: 'completed' });
});

test('a check reads as a sentence', () => {
  expect(describeCheck({ step: 'sum', path: 'total', op: 'at_least', value: 3 })).toBe('sum.total is at least 3');
  expect(describeCheck({ step: 'ask', path: '', op: 'skipped' })).toBe('ask was skipped');
  const called = () => 'Add up';
  expect(describeCheck({ step: 'sum', path: 'total', op: 'exists' }, called)).toBe('Add up: total exists');
});

test('a trial begins with the steps that are added and changed', () => {
  expect(firstChecks(changes).map(({ step, op }) => [step, op])).toEqual([
    ['first', 'completed'],
    ['second', 'completed'],
    ['there', 'completed'],
    ['named', 'completed'],
  ]);
  expect(firstChecks(changes, 1)).toHaveLength(1);
});

test('changes outside of the steps are detected', () => {
  const none = { steps: changes, reordered: false, notes: [], graph: [], run_setup: [], details: [] };
  expect(changesOutside(none)).toBe(false);
  expect(changesOutside({ ...none, details: [{ field: 'name', after: 'x' }] })).toBe(true);
  expect(changesOutside({ ...none, reordered: true })).toBe(true);
});
