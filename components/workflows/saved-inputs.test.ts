import { expect, test } from 'vitest';
import { withSavedInput } from './saved-inputs.tsx';

test('an input with a new name is appended, and one with an existing name replaces that input', () => {
  const saved = [
    { name: 'Small', input: { n: 1 } },
    { name: 'Large', input: { n: 9 } },
  ];
  expect(withSavedInput(saved, 'Odd', { n: 3 }).map(({ name }) => name)).toEqual(['Small', 'Large', 'Odd']);
  expect(withSavedInput(saved, 'Small', { n: 2 })).toEqual([{ name: 'Small', input: { n: 2 } }, saved[1]]);
});
