import { describe, expect, test } from 'vitest';
import type { JsonMap, JsonValue } from '../core/index.ts';
import { checkForm, validateForm } from './form.ts';

const array = (length: number, item: (n: number) => JsonValue): JsonValue[] =>
  Array.from({ length }, (_, n) => item(n));
const list = (items: JsonValue): JsonMap => ({ properties: { v: { type: 'array', items } } });
const names = array(8_000, n => `n${n}`);

/** Forms of almost 64 KiB with results of almost 1 MiB, chosen so that one keyword has the most work. */
const bombs: [string, JsonMap, JsonMap][] = [
  ['an enum, no item of it', list({ enum: names.slice(0, 7_000) }), { v: array(150_000, n => n) }],
  [
    'an enum of objects',
    list({ enum: array(3_000, n => ({ a: { b: n } })) }),
    { v: array(40_000, () => ({ a: { b: -1 } })) },
  ],
  ['a long const', list({ const: 'x'.repeat(60_000) }), { v: array(150_000, n => n) }],
  ['a deep const', list({ const: array(8_000, n => n) }), { v: [array(8_000, n => n), array(8_000, () => 0)] }],
  ['required', list({ required: names.slice(0, 7_000) as string[] }), { v: array(150_000, () => ({})) }],
  [
    'dependentRequired',
    list({ dependentRequired: { a: names.slice(0, 7_000) } }),
    { v: array(100_000, () => ({ a: 1 })) },
  ],
  [
    'properties',
    list({ properties: Object.fromEntries(names.slice(0, 4_000).map(n => [n, true])) }),
    { v: array(150_000, () => ({})) },
  ],
  ['uniqueItems', { properties: { v: { uniqueItems: true } } }, { v: array(150_000, n => n) }],
  [
    'uniqueItems of objects',
    { properties: { v: { uniqueItems: true } } },
    { v: array(500, n => [...array(400, () => 0), n]) },
  ],
  ['anyOf', list({ anyOf: array(3_000, n => ({ const: n })) }), { v: array(150_000, () => 'x') }],
  ['contains', { properties: { v: { contains: { enum: names.slice(0, 7_000) } } } }, { v: array(150_000, n => n) }],
  ['many problems', list({ type: 'string', minLength: 2 }), { v: array(150_000, n => n) }],
  ['many problems of few units', list(false), { v: array(400_000, () => 1) }],
  ['a pattern', list({ pattern: '(?:.?){300}$' }), { v: ['a'.repeat(900_000)] }],
  ['a format', list({ format: 'email' }), { v: array(450, () => 'a.'.repeat(1_000)) }],
  ['a long name', { additionalProperties: false }, { ['x'.repeat(900_000)]: 1 }],
];

describe('a result that would keep its form busy', () => {
  test.each(bombs)('%s is refused in bounded time and memory', (_, form, result) => {
    expect(checkForm(form)).toEqual([]);
    expect(JSON.stringify(result).length).toBeLessThan(1024 * 1024);
    const before = process.cpuUsage();
    const heap = process.memoryUsage().heapUsed;
    const problems = validateForm(form, result);
    const { user } = process.cpuUsage(before);
    // The slowest takes 330 ms, including garbage collection.
    expect(user / 1000).toBeLessThan(3_000);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(200_000_000);
    expect(JSON.stringify(problems).length).toBeLessThan(100_000);
  });
});

describe('a large result that fits', () => {
  test.each<[string, JsonMap, JsonMap]>([
    ['numbers', list({ type: 'integer' }), { v: array(150_000, n => n) }],
    [
      'rows with a country',
      list({ properties: { c: { enum: array(250, n => `c${n}`) } } }),
      { v: array(5_000, () => ({ c: 'c249' })) },
    ],
    [
      'rows with tags',
      list({ properties: { tags: { uniqueItems: true } } }),
      { v: array(5_000, () => ({ tags: ['a', 'b', 'c'] })) },
    ],
    ['texts', list({ pattern: '^[a-z ]+$', maxLength: 5_000 }), { v: array(20, () => 'lorem ipsum '.repeat(300)) }],
  ])('%s is accepted', (_, form, result) => {
    expect(validateForm(form, result)).toEqual([]);
  });
});

test('a small result gets all its problems reported', () => {
  const form = {
    properties: { a: { enum: names.slice(0, 1_000) }, b: { const: 'x'.repeat(300) }, c: { type: 'string' } },
  };
  const problems = validateForm(form, { a: 1, b: 2, c: 3 });
  expect(problems.map(({ path }) => path)).toEqual(['result.a', 'result.b', 'result.c']);
  for (const { message } of problems) expect(message.length).toBeLessThan(400);
  expect(validateForm(form, { a: 'n999', b: 'x'.repeat(300), c: '' })).toEqual([]);
});

test('the patterns of a form are limited together', () => {
  const patterns = (count: number): JsonMap => ({
    properties: Object.fromEntries(array(count, n => n).map(n => [`p${n}`, { pattern: `a{990}${n}` }])),
  });
  expect(checkForm(patterns(3))).toEqual([]);
  expect(checkForm(patterns(4))).toMatchObject([{ path: 'form.properties.p3.pattern', code: 'form_invalid' }]);
});
