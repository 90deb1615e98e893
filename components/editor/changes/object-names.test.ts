import { expect, test } from 'vitest';
import { stepNames } from '../../runs/step-names.tsx';
import { hasIds, namesOf, partsWithNames, withStepNames } from './object-names.ts';

const [a, b, gone] = ['a', 'b', 'c'].map(letter => `0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d1${letter}`) as [
  string,
  string,
  string,
];
const none = { steps: [], reordered: false, notes: [], graph: [], run_setup: [], details: [] };

test('names replace ids, and an id without a name stays', () => {
  const names = namesOf([{ id: a, name: 'Orders' }]);
  const text = `{"workflow_id": "${a}", "other": "${gone}"}`;
  const parts = partsWithNames(text, names);
  expect(parts.map(part => part.text).join('')).toBe(`{"workflow_id": "Orders", "other": "${gone}"}`);
  expect(parts.filter(part => part.id !== null)).toEqual([{ at: 17, text: 'Orders', id: a }]);
  expect(partsWithNames('plain', names)).toEqual([{ at: 0, text: 'plain', id: null }]);
  expect(partsWithNames('', names)).toEqual([]);
});

test('two objects with the same name get different names', () => {
  const names = namesOf([
    { id: a, name: 'Orders' },
    { id: b, name: 'Orders' },
  ]);
  expect(names.get(a)).not.toBe(names.get(b));
});

test('hasIds returns whether the changes contain ids, so that names are needed', () => {
  expect(hasIds({ ...none, graph: [{ field: 'output', after: 'x' }] })).toBe(false);
  expect(hasIds({ ...none, graph: [{ field: 'on_failure', after: { workflow_id: a } }] })).toBe(true);
});

test('a step is shown by its name, and by its id if it has no name', () => {
  const called = stepNames([{ id: 'x', name: 'Ask Finance' }], [{ id: 'x', name: 'Before' }, { id: 'y' }]);
  expect(['x', 'y', 'z'].map(called)).toEqual(['Ask Finance', 'y', 'z']);
  expect(withStepNames('depends_on', ['x', 'y'], called)).toEqual(['Ask Finance', 'y']);
  expect(withStepNames('script', 'x', called)).toBe('x');
});
