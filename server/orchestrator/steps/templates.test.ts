import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../core/index.ts';
import { Rendering, type TemplateScope, TemplateUnresolved } from './rendering.ts';
import { collectReferences, MAX_REFERENCES, parseTemplate, TemplateSyntaxError } from './templates.ts';

const scope = {
  input: { name: 'Ada', n: 1, list: [10, { deep: 'x' }], 'odd name': true, nothing: null, text: '{{input.name}}' },
  result: (step: string) => ({ of: step }),
};

const render = (value: JsonValue, from: TemplateScope) => new Rendering(from).value('field', value);

describe('rendering', () => {
  test.each([
    ['no template', 'no template'],
    ['{{input.n}}', 1],
    ['{{ input.n }}', 1],
    [' {{input.n}}', ' 1'],
    ['{{input.list}}', [10, { deep: 'x' }]],
    ['{{input}}', scope.input],
    ['{{input.list[0]}}', 10],
    ['{{input.list[1].deep}}', 'x'],
    ['{{input["odd name"]}}', true],
    ['{{steps.a-b.result.of}}', 'a-b'],
    ['{{steps.a.result}}', { of: 'a' }],
    ['Hi {{input.name}}, {{input.list}}!', 'Hi Ada, [10,{"deep":"x"}]!'],
    ['{{input.missing ?? "none"}}', 'none'],
    ['{{input.missing ?? {"a": [1, "}}"]}}}', { a: [1, '}}'] }],
    ['{{input.nothing ?? 5}}', 5],
    ['{{input.nothing}}', null],
    ['{{input.n ?? 5}}', 1],
    // A value is never a template itself.
    ['{{input.text}}', '{{input.name}}'],
  ])('%s', (text, expected) => expect(render(text, scope)).toEqual(expected));

  test.each([
    '{{input.missing}}',
    '{{input.name.length}}',
    '{{input.list.length}}',
    '{{input.__proto__}}',
    '{{input.constructor}}',
    '{{input.list[2]}}',
    '{{input.name[0]}}',
    '{{input.list["0"]}}',
  ])('%s does not resolve, and says so by its path', text => {
    expect(() => render(text, scope)).toThrow(TemplateUnresolved);
    expect(() => render(text, scope)).toThrow(text);
  });
  test.each([
    '{{',
    '{{}}',
    '{{input',
    '{{input.}}',
    '{{input.x()}}',
    '{{input.a + 1}}',
    '{{other.x}}',
    '{{steps.a}}',
    '{{steps.a.output}}',
    '{{input[x]}}',
    '{{input["x]}}',
    '{{input.x ?? y}}',
    '{{input.x ?? }}',
    '{{input[-1]}}',
    '{{input.x}',
  ])('%s is malformed', text => expect(() => render(text, scope)).toThrow(TemplateSyntaxError));
  test('at any depth, and keys are left alone', () => {
    expect(render({ a: ['{{input.n}}', { '{{input.n}}': '{{input.name}}' }], b: 1, c: null }, scope)).toEqual({
      a: [1, { '{{input.n}}': 'Ada' }],
      b: 1,
      c: null,
    });
  });
  test('references are found with the field they stand in', () => {
    const found = collectReferences({ a: [{ url: 'x {{steps.s.result.u}}' }], b: '{{bad' });
    expect(found.map(item => [item.path, 'reference' in item ? item.reference.step : 'error'])).toEqual([
      ['a[0].url', 's'],
      ['b', 'error'],
    ]);
  });
});

describe('any text', () => {
  test('is rendered or refused with one of our two errors', () => {
    const piece = fc.constantFrom(
      '{{',
      '}}',
      'input',
      'steps',
      '.',
      '[',
      ']',
      '"',
      '??',
      ' ',
      'a',
      '0',
      '{',
      '}',
      '\\',
      '.result',
      'é',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), pieces => {
        try {
          render(pieces.join(''), scope);
        } catch (error) {
          expect(error instanceof TemplateSyntaxError || error instanceof TemplateUnresolved).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });
  test('any name in quotes reads the member of that name', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (name, value) => {
        const input = Object.fromEntries([[name, JSON.parse(JSON.stringify(value))]]);
        expect(render(`{{input[${JSON.stringify(name)}]}}`, { ...scope, input })).toEqual(input[name]);
      }),
    );
  });
  test('a megabyte of opening braces is refused at its first', () => {
    expect(() => parseTemplate('{{'.repeat(500_000))).toThrow(TemplateSyntaxError);
    expect(parseTemplate('{{input.a}}'.repeat(MAX_REFERENCES)).parts).toHaveLength(MAX_REFERENCES);
    expect(() => parseTemplate('{{input.a}}'.repeat(50_000))).toThrow('more than 10000 templates');
    expect(collectReferences(['{{input.a}}'.repeat(6_000), ' {{input.a}}'.repeat(6_000)]).at(-1)).toMatchObject({
      path: '[1]',
      error: { message: 'more than 10000 templates in one field' },
    });
  });
});
