import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@/server/platform/json.ts';
import { formFields, initialValues, labelOf, resultOf, takesExtraComment, validateValues } from './form-schema.ts';

const schema: JsonObject = {
  type: 'object',
  required: ['amount', 'address'],
  properties: {
    amount: { type: 'number', minimum: 1, title: 'Amount', default: 5 },
    note: { type: 'string', format: 'textarea' },
    due: { type: 'string', format: 'date' },
    level: { enum: ['low', 'high'] },
    colour: { oneOf: [{ const: 'r', title: 'Red' }, { const: 'b' }] },
    tags: { type: 'array', items: { type: 'string' } },
    days: { type: 'array', items: { enum: ['mon', 'tue'] } },
    address: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, zip: { type: 'string', default: '1' } },
    },
    other: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
};

describe('formFields', () => {
  it('draws each kind with the control that fits it', () => {
    const kinds = Object.fromEntries(formFields(schema).map(field => [field.key, field.kind]));
    expect(kinds).toEqual({
      amount: 'number',
      note: 'textarea',
      due: 'text',
      level: 'choice',
      colour: 'choice',
      tags: 'list',
      days: 'choices',
      address: 'group',
      other: 'json',
    });
  });
  it('keeps the order of the author, whatever is required', () => {
    const fields = formFields({ ...schema, required: ['note', 'amount'] });
    expect(fields.map(field => field.key)).toEqual(Object.keys(Object(schema.properties)));
  });
  it('names choices by their title, else by their value', () => {
    const colour = formFields(schema).find(field => field.key === 'colour');
    expect(colour).toMatchObject({ options: ['r', 'b'], labels: ['Red', 'b'] });
  });
  it('reads keys as words', () => {
    expect([labelOf('order_total'), labelOf('orderTotal')]).toEqual(['Order total', 'Order total']);
  });
});

it('begins with the defaults, nested ones too', () => {
  expect(initialValues(schema)).toEqual({ amount: 5, address: { zip: '1' } });
});

describe('validateValues', () => {
  it('finds nothing wrong with a fitting answer', () => {
    expect(validateValues(schema, { amount: 2, address: { city: 'Oslo' } }).size).toBe(0);
  });
  it('puts each problem on its field', () => {
    const problems = validateValues(schema, { amount: 0, address: {}, level: 'mid' });
    expect(problems.get('address/city')).toBe('This field is required.');
    expect([...problems.keys()]).toEqual(expect.arrayContaining(['amount', 'level']));
  });
});

describe('resultOf', () => {
  it('is undefined when nothing was said, so that only {approved} is sent', () => {
    expect(resultOf({ note: '', tags: [], address: { city: '' } }, '  ')).toBeUndefined();
  });
  it('adds a typed comment and leaves out what is empty', () => {
    expect(resultOf({ amount: 0, note: '' }, ' fine ')).toEqual({ amount: 0, comment: 'fine' });
  });
});

it('offers a comment only where the form takes one beside its own fields', () => {
  expect(takesExtraComment(null)).toBe(true);
  expect(takesExtraComment(schema)).toBe(true);
  expect(takesExtraComment({ ...schema, additionalProperties: false })).toBe(false);
  expect(takesExtraComment({ type: 'object', properties: { comment: { type: 'string' } } })).toBe(false);
});
