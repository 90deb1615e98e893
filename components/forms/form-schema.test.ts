import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@/server/platform/json.ts';
import {
  changedValues,
  formFields,
  initialValues,
  labelOf,
  resultOf,
  takesExtraComment,
  validateValues,
} from './form-schema.ts';

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
  it('selects a control for each type', () => {
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
  it('keeps the author’s order of required and optional fields', () => {
    const fields = formFields({ ...schema, required: ['note', 'amount'] });
    expect(fields.map(field => field.key)).toEqual(Object.keys(Object(schema.properties)));
  });
  it('labels choices by their title, or else by their value', () => {
    const colour = formFields(schema).find(field => field.key === 'colour');
    expect(colour).toMatchObject({ options: ['r', 'b'], labels: ['Red', 'b'] });
  });
  it('turns keys into labels', () => {
    expect([labelOf('order_total'), labelOf('orderTotal')]).toEqual(['Order total', 'Order total']);
  });
});

describe('a schema that a library generated', () => {
  const emitted: JsonObject = {
    $ref: '#/$defs/Order',
    $defs: {
      Order: {
        type: 'object',
        required: ['state', 'note', 'ship_to', 'kind'],
        properties: {
          state: { $ref: '#/$defs/State', title: 'New state', default: 'open' },
          priority: { anyOf: [{ $ref: '#/$defs/State' }, { type: 'null' }] },
          note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          due: { type: ['string', 'null'], format: 'date' },
          at: { type: 'string', format: 'time', nullable: true },
          mail: { type: 'string', format: 'email' },
          site: { type: 'string', format: 'uri' },
          kind: { const: 'order' },
          ship_to: { allOf: [{ $ref: '#/$defs/Address' }], description: 'Where to' },
          states: { type: 'array', items: { $ref: '#/$defs/State' } },
          parent: { $ref: '#/$defs/Order' },
        },
        additionalProperties: false,
      },
      State: { enum: ['open', 'paid', null], type: 'string', title: 'State' },
      Address: {
        type: 'object',
        title: 'Address',
        required: ['city'],
        properties: { city: { type: 'string' }, home: { $ref: '#/$defs/Address' } },
      },
    },
  };
  const fields = formFields(emitted);
  const field = (key: string) => fields.find(each => each.key === key);

  it('has the controls of the referenced schemas', () => {
    expect(Object.fromEntries(fields.map(({ key, kind }) => [key, kind]))).toEqual({
      state: 'choice',
      priority: 'choice',
      note: 'text',
      due: 'text',
      at: 'text',
      mail: 'text',
      site: 'text',
      kind: 'choice',
      ship_to: 'group',
      states: 'json',
      parent: 'json',
    });
    expect(['due', 'at', 'mail', 'site'].map(key => Object(field(key)).input)).toEqual([
      'date',
      'time',
      'email',
      'url',
    ]);
    expect(field('state')).toMatchObject({ label: 'New state', options: ['open', 'paid'], nullable: true });
    expect(field('priority')).toMatchObject({ label: 'Priority' });
    expect(field('ship_to')).toMatchObject({
      label: 'Ship to',
      hint: 'Where to',
      fields: [{ key: 'city' }, { key: 'home', kind: 'json' }],
    });
  });
  it('starts with its defaults, its constants, and null for empty nullable fields', () => {
    expect(initialValues(emitted)).toEqual({ state: 'open', note: null, kind: 'order' });
  });
  it('has readable problems on its fields, including those of referenced schemas', () => {
    const good = { state: 'open', note: null, kind: 'order', ship_to: { city: 'Oslo' }, at: '08:30' };
    expect(validateValues(emitted, good)).toEqual(new Map());
    expect(validateValues(emitted, { ...good, mail: 'x', ship_to: {}, priority: 'lost', more: 1 })).toEqual(
      new Map([
        ['priority', 'Must be one of "open", "paid", null.'],
        ['mail', 'Must be an email address.'],
        ['ship_to/city', 'This field is required.'],
        ['more', 'Is not expected.'],
      ]),
    );
  });
  it('reports a missing field under its key, whatever characters the key has', () => {
    expect([...validateValues({ required: ['a b', 'x is missing', '"'] }, {}).keys()]).toEqual([
      'a b',
      'x is missing',
      '"',
    ]);
  });
  it('accepts no comment if it forbids additional properties', () => {
    expect(takesExtraComment(emitted)).toBe(false);
  });
});

it('starts with the defaults, including nested ones', () => {
  expect(initialValues(schema)).toEqual({ amount: 5, address: { zip: '1' } });
});

describe('validateValues', () => {
  it('returns no problem for a valid answer', () => {
    expect(validateValues(schema, { amount: 2, address: { city: 'Oslo' } }).size).toBe(0);
  });
  it('assigns each problem to its field', () => {
    const problems = validateValues(schema, { amount: 0, address: {}, level: 'mid' });
    expect(problems.get('address/city')).toBe('This field is required.');
    expect([...problems.keys()]).toEqual(expect.arrayContaining(['amount', 'level']));
  });
});

describe('resultOf', () => {
  it('is undefined for an empty form, so that only {approved} is sent', () => {
    expect(resultOf({ note: '', tags: [], address: { city: '' } }, '  ')).toBeUndefined();
  });
  it('keeps empty values with which the form started, so that the arguments of a call stay the same', () => {
    const initial = { arguments: { to: 'bob', note: '', cc: [] } };
    expect(resultOf(initial, '', initial)).toEqual(initial);
    expect(resultOf({ arguments: { to: 'eve', note: '', cc: [], bcc: [] } }, '', initial)).toEqual({
      arguments: { to: 'eve', note: '', cc: [] },
    });
    expect(changedValues({ arguments: initial.arguments, reason: 'No' }, initial)).toEqual({ reason: 'No' });
  });
  it('adds a comment and leaves out empty values', () => {
    expect(resultOf({ amount: 0, note: '' }, ' fine ')).toEqual({ amount: 0, comment: 'fine' });
  });
});

it('offers a comment only if the form accepts one in addition to its own fields', () => {
  expect(takesExtraComment(null)).toBe(true);
  expect(takesExtraComment(schema)).toBe(true);
  expect(takesExtraComment({ ...schema, additionalProperties: false })).toBe(false);
  expect(takesExtraComment({ type: 'object', properties: { comment: { type: 'string' } } })).toBe(false);
});
