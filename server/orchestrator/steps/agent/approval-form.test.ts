import { expect, test } from 'vitest';
import { checkForm, validateForm } from '../form.ts';
import { approvalForm } from './approval-form.ts';

const ANY = { type: 'object', title: 'Arguments', description: expect.any(String) };

test('the form has the fields of the tool, with the arguments of the agent', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { amount: { $ref: '#/$defs/money' }, to: { type: 'string' } },
    required: ['amount'],
    $defs: { money: { type: 'number', maximum: 100 } },
  };
  const form = approvalForm(schema, { amount: 5, to: 'bob' });
  expect(form).toMatchObject({
    properties: { arguments: { properties: schema.properties, default: { amount: 5, to: 'bob' } }, reason: {} },
    additionalProperties: false,
  });
  expect(checkForm(form)).toEqual([]);
  expect(validateForm(form, { arguments: { amount: 500 } })).toMatchObject([{ path: 'result.arguments.amount' }]);
  expect(validateForm(form, {})).toEqual([]);
});

test.each([
  ['a schema that no form can have', { type: 'object', patternProperties: { x: {} } }, { a: 1 }],
  ['arguments that do not fit as the form reads them', { properties: { at: { format: 'date' } } }, { at: 'soon' }],
  [
    'arguments with an inner field that the schema does not name',
    { properties: { a: { properties: { b: {} } } } },
    { a: { c: 1 } },
  ],
  ['a reference that leads elsewhere', { $ref: 'https://example.com/schema' }, {}],
])('of %s, the arguments are any object', (_, schema, args) => {
  const form = approvalForm(schema, args);
  expect(form).toMatchObject({ properties: { arguments: { ...ANY, default: args } } });
  expect(checkForm(form)).toEqual([]);
});

test('an argument that the schema does not name becomes a field, too', () => {
  const form = approvalForm({ type: 'object', properties: { a: { type: 'string' } } }, { a: 'x', extra: 1 });
  expect(form).toMatchObject({ properties: { arguments: { properties: { a: { type: 'string' }, extra: {} } } } });
});
