import { expect, test } from 'vitest';
import { memberPath, searchJson, stepPath } from './json-path.ts';

test('paths are written in the syntax of templates', () => {
  expect(memberPath('', 'total')).toBe('total');
  expect(memberPath('steps.a.result', 'total')).toBe('steps.a.result.total');
  expect(memberPath('input.items', 0)).toBe('input.items[0]');
  expect(memberPath('input', 'odd key')).toBe('input["odd key"]');
  expect(stepPath('order', 'result')).toBe('steps.order.result');
  // An expression would treat `my-step` as a subtraction.
  expect(stepPath('my-step', 'error')).toBe('steps["my-step"].error');
  expect(stepPath('each.3.fetch', 'result')).toBe('steps.fetch.result');
});

test('a search finds names and values at any depth, in order, up to its limit', () => {
  const value = {
    items: [
      { name: 'Engine', price: 12 },
      { name: 'Loom', price: 120 },
    ],
    engineer: null,
  };
  const paths = (text: string, limit = 10) => searchJson(value, 'input', text, limit).map(({ path }) => path);
  expect(paths('ENGINE')).toEqual(['input.items[0].name', 'input.engineer']);
  expect(paths('12')).toEqual(['input.items[0].price', 'input.items[1].price']);
  expect(paths('price', 1)).toEqual(['input.items[0].price']);
  expect(paths('inp')).toEqual(['input']);
  expect(paths('nothing')).toEqual([]);
});
