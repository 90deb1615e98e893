import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonMap } from '../core/index.ts';
import { questionOf } from './agent/ask-user.ts';
import { checkForm, validateForm } from './form.ts';
import { isSecretInput } from './searchable.ts';

/** Returns the JSON Schema that zod emits for one of its targets. */
const emitted = (schema: z.ZodType, target: 'draft-2020-12' | 'draft-7' | 'openapi-3.0') =>
  z.toJSONSchema(schema, { target }) as JsonMap;
const messages = (schema: JsonMap, value: JsonMap) =>
  validateForm(schema, value).map(({ path, message }) => `${path}: ${message}`);

describe.each(['draft-2020-12', 'draft-7', 'openapi-3.0'] as const)('what zod emits for %s', target => {
  type Tree = { name: string; children: Tree[] };
  const Tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ name: z.string(), children: z.array(Tree) }));
  const Order = z.strictObject({
    id: z.uuid(),
    mail: z.email(),
    at: z.iso.datetime(),
    day: z.iso.date(),
    every: z.iso.duration(),
    host: z.hostname(),
    size: z.int32(),
    note: z.string().nullable(),
    state: z.enum(['open', 'paid']).meta({ id: 'State' }),
    pay: z.discriminatedUnion('by', [
      z.object({ by: z.literal('card'), number: z.string() }),
      z.object({ by: z.literal('cash') }),
    ]),
    labels: z.record(z.string(), z.number()),
    tree: Tree,
  });
  const good = {
    id: '01900000-0000-7000-8000-000000000001',
    mail: 'ada@example.com',
    at: '2026-01-31T08:00:00Z',
    day: '2026-01-31',
    every: 'PT15M',
    host: 'db.example.com',
    size: 1,
    note: null,
    state: 'open',
    pay: { by: 'cash' },
    labels: { a: 1 },
    tree: { name: 'a', children: [{ name: 'b', children: [] }] },
  };
  const schema = emitted(Order, target);

  test('is valid, and accepts the values that zod accepts', () => {
    expect(checkForm(schema, 'response_schema')).toEqual([]);
    expect(Order.safeParse(good).success).toBe(true);
    expect(messages(schema, good)).toEqual([]);
  });

  test.each<[string, object, string]>([
    ['a field that is not expected', { more: 1 }, 'result.more: is not expected'],
    ['a wrong format', { every: 'soon' }, 'result.every: must be an ISO 8601 duration, such as PT15M'],
    ['a choice', { state: 'lost' }, 'result.state: must be one of "open", "paid"'],
    ['an alternative', { pay: { by: 'card' } }, 'result.pay: number is missing'],
    ['a tag', { pay: { by: 'gold' } }, 'result.pay.by: must be one of "card", "cash"'],
    [
      'something within itself',
      { tree: { name: 'a', children: [{ name: 1, children: [] }] } },
      'result.tree.children[0].name: must be a string, not a number',
    ],
  ])('says what is wrong: %s', (_, wrong, message) => {
    expect(Order.safeParse({ ...good, ...wrong }).success).toBe(false);
    expect(messages(schema, { ...good, ...wrong } as JsonMap)).toContain(message);
  });
});

describe('a reference', () => {
  test.each([
    [
      'https://example.org/person.json',
      '$ref "https://example.org/person.json" is another document: copy it into $defs, since nothing is fetched',
    ],
    ['person.json', '$ref "person.json" is another document: copy it into $defs, since nothing is fetched'],
    ['#/$defs/Person', '$ref "#/$defs/Person" leads to no schema in this document'],
    ['#person', '$ref "#person" leads to no schema in this document'],
  ])('to %s is refused when the graph is checked', ($ref, message) => {
    const form = { properties: { a: { items: { $ref } } } };
    expect(checkForm(form)).toEqual([{ path: 'form.properties.a.items.$ref', code: 'form_invalid', message }]);
  });

  test('in a circle is refused at any place; one into the value is allowed', () => {
    const circle: JsonMap = { $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } };
    expect(checkForm({ ...circle, properties: { x: { $ref: '#/$defs/a' } } })).toMatchObject([
      { path: 'form.$defs.b.$ref', message: 'refers to itself without end' },
    ]);
    expect(checkForm({ properties: { x: { $ref: '#' } } })).toEqual([]);
  });

  test('to the root is followed to its type', () => {
    expect(checkForm({ $ref: '#/$defs/a', $defs: { a: { type: 'object' } } })).toEqual([]);
    expect(checkForm({ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } })).toMatchObject([{ path: 'form.type' }]);
  });

  test('to an invalid schema is refused like that schema itself', () => {
    const form = { properties: { a: { $ref: '#/x-own/a' } }, 'x-own': { a: { type: 'colour' } } };
    expect(checkForm(form)).toMatchObject([{ path: 'form.properties.a.$ref.type' }]);
  });

  test('does not hide a question for a credential', () => {
    const $defs = { P: { type: 'string', format: 'password' }, Q: { allOf: [{ $ref: '#/$defs/P' }] } };
    for (const $ref of ['#/$defs/P', '#/$defs/Q']) {
      const form = { type: 'object', properties: { word: { $ref } }, $defs };
      expect(questionOf({ question: 'Which?', form })).toEqual({
        problem: expect.stringContaining('"word" asks for a credential'),
      });
    }
  });

  test('does not hide a write-only value', () => {
    const schema: JsonMap = {
      properties: { card: { $ref: '#/$defs/Card' } },
      $defs: {
        Card: { properties: { code: { anyOf: [{ type: 'string', writeOnly: true }, { type: 'null' }] }, name: {} } },
      },
    };
    expect(isSecretInput(schema, ['card', 'code'])).toBe(true);
    expect(isSecretInput(schema, ['card', 'name'])).toBe(false);
    expect(isSecretInput({ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, ['a'])).toBe(false);
  });
});

test('many fields with the pattern of one format count it once', () => {
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`d${n}`, z.iso.datetime()]));
  expect(checkForm(emitted(z.object(fields), 'draft-2020-12'))).toEqual([]);
});
