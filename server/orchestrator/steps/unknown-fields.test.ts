import { expect, test } from 'vitest';
import type { JsonMap } from '../core/index.ts';
import { unknownFields } from './unknown-fields.ts';

const text = { type: 'string' };
const paths = (form: JsonMap, answer: JsonMap, beside?: string[]) =>
  unknownFields(form, answer, beside).map(({ path }) => path);

test.each<[string, JsonMap, JsonMap, string[]]>([
  ['a field that the form does not name', { properties: { a: text } }, { a: 'x', b: 1 }, ['result.b']],
  ['a form without fields', { type: 'object' }, { b: 1 }, []],
  ['a form that admits other fields', { properties: { a: text }, additionalProperties: true }, { b: 1 }, []],
  [
    'additional fields with a schema, which are checked too',
    { properties: { a: text }, additionalProperties: { properties: { c: text } } },
    { b: { c: 'x', d: 1 } },
    ['result.b.d'],
  ],
  ['an inner object', { properties: { a: { properties: { b: text } } } }, { a: { c: 1 } }, ['result.a.c']],
  [
    'the items of a list',
    { properties: { a: { items: { properties: { b: text } } } } },
    { a: [{ b: 'x' }, { c: 1 }] },
    ['result.a[1].c'],
  ],
  [
    'a tuple',
    { properties: { a: { prefixItems: [{ properties: { b: text } }], items: { properties: { c: text } } } } },
    { a: [{ c: 1 }, { c: 1 }] },
    ['result.a[0].c'],
  ],
  [
    'fields of combined schemas',
    {
      properties: { a: text },
      allOf: [{ properties: { b: text } }],
      anyOf: [{ properties: { c: text } }],
      oneOf: [{ properties: { d: text } }],
      if: { properties: { e: text } },
      then: { properties: { f: text } },
      dependentSchemas: { a: { properties: { g: text } } },
    },
    { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1 },
    ['result.h'],
  ],
  [
    'a reference, including a recursive one',
    {
      properties: { a: { $ref: '#/$defs/node' } },
      $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } },
    },
    { a: { next: { next: { x: 1 } } } },
    ['result.a.next.next.x'],
  ],
  [
    'names of built-in JavaScript properties',
    { properties: { a: text } },
    JSON.parse('{"constructor": 1, "__proto__": 2}'),
    ['result.constructor', 'result.__proto__'],
  ],
])('%s', (_, form, answer, expected) => {
  expect(paths(form, answer)).toEqual(expected);
});

test('fields that are known without the form are allowed only at the top level', () => {
  const form = { properties: { a: { properties: { b: text } } } };
  expect(paths(form, { comment: 'x', a: { comment: 'x' } }, ['comment'])).toEqual(['result.a.comment']);
});

test('an answer that is too large to check is refused', () => {
  const alternatives = Array.from({ length: 2_000 }, (_, n) => ({ properties: { [`f${n}`]: text } }));
  const form = { properties: { list: { items: { anyOf: alternatives } } } };
  expect(paths(form, { list: Array.from({ length: 5_000 }, () => ({ f1: 'x' })) })).toEqual(['result']);
});
