import { expect, test } from 'vitest';
import { changedLines, fieldsOfStep, stepsOfBoth, valueText, withoutMoves } from './describe-changes.ts';

test('only the lines between the common beginning and end are changed', () => {
  expect(changedLines('a\nb\nc', 'a\nx\ny\nc')).toEqual([
    { kind: 'removed', at: 2, text: 'b' },
    { kind: 'added', at: 2, text: 'x' },
    { kind: 'added', at: 3, text: 'y' },
  ]);
  expect(changedLines('a\na', 'a')).toEqual([{ kind: 'removed', at: 2, text: 'a' }]);
  expect(changedLines('', 'a')).toEqual([{ kind: 'added', at: 1, text: 'a' }]);
  expect(changedLines('same', 'same')).toEqual([]);
});

test('values are converted to text, and an absent value is empty', () => {
  expect([valueText('a\nb'), valueText(['x']), valueText(undefined)]).toEqual(['a\nb', '[\n  "x"\n]', '']);
});

test('steps that only moved are counted, not listed', () => {
  const moved = { field: 'position', after: { x: 1, y: 2 } };
  const named = { field: 'name', after: 'New' };
  const diff = withoutMoves([
    { change: 'changed', step: 'a', fields: [moved] },
    { change: 'changed', step: 'b', fields: [named, moved] },
    { change: 'removed', step: 'c', before: { id: 'c', type: 't' } },
  ]);
  expect(diff).toMatchObject({ moved: 2, steps: [{ step: 'b', fields: [named] }, { step: 'c' }] });
});

test('an added or removed step is described by its fields', () => {
  const step = { id: 'a', type: 't', position: { x: 1, y: 2 }, name: 'New' };
  expect(fieldsOfStep({ change: 'added', step: 'a', after: step })).toEqual([
    { field: 'type', after: 't' },
    { field: 'name', after: 'New' },
  ]);
  expect(fieldsOfStep({ change: 'removed', step: 'a', before: step })[1]).toEqual({ field: 'name', before: 'New' });
});

test('the steps of both graphs are drawn, the newer steps first', () => {
  const step = (id: string, type = 't') => ({ id, type });
  const both = stepsOfBoth({ steps: [step('a'), step('b')] }, { steps: [step('c'), step('b', 'new')] });
  expect(both).toEqual([step('c'), step('b', 'new'), step('a')]);
});
