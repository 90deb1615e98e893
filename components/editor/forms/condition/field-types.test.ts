import { expect, test } from 'vitest';
import { fieldChoices, OPERATOR_LABELS, operatorsFor } from './field-types.ts';
import { OPERATORS } from './rules.ts';

const data = {
  input: { total: 5, customer: { email: '', tags: [''] }, 'odd name': null },
  steps: [
    { id: 'order-1', name: 'Read the order', result: { ok: true } },
    { id: 'call', name: 'Call', result: null },
  ],
  loop: { item: { sku: '' } },
};

test('fields are grouped by their source, with their type', () => {
  expect(fieldChoices(data).map(({ path, group, type }) => [path, group, type])).toEqual([
    ['item.sku', 'Item of the loop', 'text'],
    ['input.total', 'Input', 'number'],
    ['input.customer', 'Input', 'object'],
    ['input.customer.email', 'Input', 'text'],
    ['input.customer.tags', 'Input', 'list'],
    ['input["odd name"]', 'Input', 'unknown'],
    ['steps["order-1"].result.ok', 'Read the order', 'truth'],
    ['steps.call.result', 'Call', 'unknown'],
  ]);
  expect(fieldChoices(data)[3]?.label).toBe('customer › email');
  expect(fieldChoices({ input: null, steps: [], loop: null })).toEqual([]);
});

test('operators depend on the type, and the present operator stays', () => {
  expect(operatorsFor('number', 'equals')).not.toContain('contains');
  expect(operatorsFor('number', 'contains')).toContain('contains');
  expect(operatorsFor('unknown', 'equals')).toEqual(OPERATORS);
  expect(new Set(Object.values(OPERATOR_LABELS)).size).toBe(OPERATORS.length);
});
