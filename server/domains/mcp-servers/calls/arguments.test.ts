import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { argumentProblems } from './input-schema.ts';
import { templatedArgumentProblems } from './templated-arguments.ts';

const object = (properties: JsonMap, more: JsonMap = {}): JsonMap => ({ type: 'object', properties, ...more });
const paths = (schema: JsonMap, args: JsonMap) => argumentProblems(schema, args).map(problem => problem.path);
const atPublish = (schema: JsonMap, args: JsonMap) => templatedArgumentProblems(schema, args).map(({ path }) => path);

describe('arguments that are known', () => {
  test('are checked by the schema', () => {
    const schema = object(
      {
        n: { type: 'integer', minimum: 1 },
        s: { type: 'string', pattern: '^a+$', maxLength: 3 },
        e: { enum: ['x', null] },
      },
      { required: ['n'], additionalProperties: false },
    );
    expect(paths(schema, { n: 1, s: 'aa', e: null })).toEqual([]);
    expect(paths(schema, { n: 0.5, s: 'b', e: 'y' })).toEqual(
      expect.arrayContaining(['tool_args.n', 'tool_args.s', 'tool_args.e']),
    );
    expect(paths(schema, {})).toEqual(['tool_args']);
    expect(paths(schema, { n: 1, other: 1 })).toEqual(['tool_args.other']);
    expect(argumentProblems(schema, { n: 'x' })[0]?.message).toBe('must be an integer, not a string');
  });

  test('are not refused for a type that JSON Schema does not know', () => {
    const schema = object({ a: { type: 'String' }, b: { type: ['any'] }, c: { type: 'string' } });
    expect(paths(schema, { a: 'x', b: 1, c: 'y' })).toEqual([]);
    expect(paths(schema, { a: 'x', b: 1, c: 2 })).toEqual(['tool_args.c']);
  });

  test('schemas that zod generates are understood, including recursion and tuples', () => {
    type Tree = { value: number; children: Tree[] };
    const Tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ value: z.number(), children: z.array(Tree) }));
    const made = z.toJSONSchema(
      z.strictObject({ tree: Tree, pair: z.tuple([z.string(), z.number()]), either: z.union([z.string(), z.int()]) }),
    ) as JsonMap;
    const tree = { value: 1, children: [{ value: 2, children: [] }] };
    expect(paths(made, { tree, pair: ['a', 1], either: 3 })).toEqual([]);
    const wrong = { tree: { value: 1, children: [{ value: 'x', children: [] }] }, pair: [1, 1], either: true };
    expect(paths(made, wrong)).toEqual(
      expect.arrayContaining(['tool_args.tree.children[0].value', 'tool_args.pair[0]', 'tool_args.either']),
    );
  });

  test('references to both kinds of definitions are followed, and others ignored', () => {
    for (const place of ['definitions', '$defs']) {
      const schema = object({ a: { $ref: `#/${place}/A` } }, { [place]: { A: { type: 'number' } } });
      expect(paths(schema, { a: 'x' })).toEqual(['tool_args.a']);
    }
    for (const $ref of [
      'https://evil.example/schema',
      '#/nowhere',
      '#/%zz',
      '#anchor',
      '#/properties',
      '#/__proto__',
    ]) {
      expect(paths(object({ a: { $ref } }), { a: 'x' })).toEqual([]);
    }
  });

  test('anything that cannot be checked makes the check more lenient, also beneath not, if and oneOf', () => {
    const lookAhead = { type: 'string', pattern: '^(?=a)b' };
    const schemas: JsonMap[] = [
      lookAhead,
      { not: lookAhead },
      { if: lookAhead, then: false },
      { if: { not: lookAhead }, else: false, then: false },
      { oneOf: [lookAhead, { type: 'string' }] },
      { oneOf: [{ $ref: 'https://other.example' }, { type: 'string' }] },
      { type: 'array', contains: lookAhead, maxContains: 0 },
      { type: 'object', patternProperties: { '^x-': {} }, additionalProperties: false },
      { type: 'object', unevaluatedProperties: false },
    ];
    for (const schema of schemas) {
      const value = schema.type === 'array' ? ['ab'] : schema.type === 'object' ? { 'x-1': 1 } : 'ab';
      expect([schema, paths(object({ a: schema }), { a: value as JsonValue })]).toEqual([schema, []]);
    }
  });

  test('no schema makes the check endless', () => {
    const self: JsonMap = { $ref: '#' };
    expect(paths(self, { a: 1 })).toEqual([]);
    const loop = object(
      { a: { $ref: '#/$defs/x' } },
      { $defs: { x: { anyOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/x' }] } } },
    );
    expect(paths(loop, { a: 1 })).toEqual([]);
    // Each definition doubles the work of the previous one: 2^40 visits.
    const $defs: JsonMap = { d40: { type: 'string' } };
    for (let at = 0; at < 40; at++) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = { allOf: [next, next] };
    }
    expect(paths(object({ a: { $ref: '#/$defs/d0' } }, { $defs }), { a: 1 })).toEqual([]);
    const deep = { a: JSON.parse(`${'{"a":'.repeat(90)}1${'}'.repeat(90)}`) as JsonValue };
    const branching = object(
      { a: { $ref: '#' } },
      { anyOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' } } }] },
    );
    expect(paths(branching, deep)).toEqual([]);
    const evil = object({ a: { type: 'string', pattern: '^(a+)+$' } });
    expect(paths(evil, { a: `${'a'.repeat(50_000)}!` })).toEqual(['tool_args.a']);
    const tooDeep = JSON.parse(`${'{"properties":{"a":'.repeat(200)}{}${'}}'.repeat(200)}`) as JsonMap;
    expect(paths(tooDeep, deep)).toEqual([]);
    expect(paths(object({ a: { enum: ['x'.repeat(300_000)] } }), { a: 1 })).toEqual([]);
  });

  test('are checked without an error for any schema', () => {
    const key = fc.constantFrom(
      'type',
      'properties',
      'items',
      '$ref',
      'anyOf',
      'not',
      'pattern',
      'required',
      'enum',
      '__proto__',
      'id',
      '$id',
      '$schema',
    );
    const { schema } = fc.letrec(tie => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.constantFrom('string', 'object', '#', '#/properties/a', 'https://x.example/', '(a'),
        fc.array(tie('schema'), { maxLength: 3 }),
        fc.dictionary(key, tie('schema'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.dictionary(key, schema, { maxKeys: 5 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (made, args) => {
          const asMap = made as JsonMap;
          expect(Array.isArray(argumentProblems(asMap, args as JsonMap))).toBe(true);
          expect(Array.isArray(templatedArgumentProblems(asMap, { ...(args as JsonMap), t: '{{input.x}}' }))).toBe(
            true,
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('arguments with templates', () => {
  const schema = object(
    {
      n: { type: 'number' },
      s: { type: 'string' },
      list: { type: 'array', items: { type: 'integer' } },
      nested: object(
        { flag: { type: 'boolean' }, id: { type: 'string' } },
        { required: ['flag', 'id'], additionalProperties: false },
      ),
      choice: { anyOf: [{ type: 'number' }, object({ deep: { const: 1 } }, { required: ['deep'] })] },
      ref: { $ref: '#/$defs/r' },
    },
    { required: ['n'], additionalProperties: { type: 'string' }, $defs: { r: { enum: ['a', 'b'] } } },
  );

  test('that are a single template may become any value; a template with text around it is a string', () => {
    expect(
      atPublish(schema, { n: '{{input.n}}', s: 'a{{input.s}}', nested: '{{input.all}}', ref: '{{input.r}}' }),
    ).toEqual([]);
    expect(atPublish(schema, { n: 'a{{input.n}}', list: '{{input.a}},{{input.b}}' })).toEqual([
      'tool_args.n',
      'tool_args.list',
    ]);
    expect(atPublish(schema, { n: 1, ref: 'x-{{input.r}}' })).toEqual([]);
  });

  test('are checked around the templates', () => {
    expect(atPublish(schema, { s: '{{input.s}}' })).toEqual(['tool_args.n']);
    expect(atPublish(schema, { n: 1, list: [1, '{{input.x}}', 'two', 1.5] })).toEqual([
      'tool_args.list[2]',
      'tool_args.list[3]',
    ]);
    expect(atPublish(schema, { n: 1, nested: { id: '{{input.x}}', more: 1 } })).toEqual([
      'tool_args.nested.flag',
      'tool_args.nested.more',
    ]);
    expect(atPublish(schema, { n: '{{input.n}}', ref: 'c' })).toEqual(['tool_args.ref']);
    expect(atPublish(schema, { n: '{{input.n}}', other: 3 })).toEqual(['tool_args.other']);
    expect(atPublish(schema, { n: '{{input.n}}', choice: { deep: '{{input.d}}' } })).toEqual([]);
    expect(atPublish(schema, { n: '{{input.n}}', choice: { deep: 2, other: '{{input.d}}' } })).toEqual([
      'tool_args.choice.deep',
    ]);
    expect(atPublish(schema, { n: '{{input.n}}', choice: 'x' })).not.toEqual([]);
  });

  test('are not checked against keys that are not known yet', () => {
    const strict = object({ n: { type: 'number' } }, { required: ['n'], additionalProperties: false });
    expect(atPublish(strict, { '{{input.key}}': 1 })).toEqual([]);
    expect(atPublish(strict, { '{{input.key}}': 1, m: 1 })).toEqual(['tool_args.m']);
    expect(atPublish(strict, { '{{input.key}}': 1, n: 'x' })).toEqual(['tool_args.n']);
  });

  test('without any template the whole schema is applied', () => {
    expect(atPublish(object({ n: { minimum: 3 } }), { n: 2 })).toEqual(['tool_args.n']);
    expect(atPublish(object({ n: { minimum: 3 } }), { n: '{{input.n}}' })).toEqual([]);
  });
});
