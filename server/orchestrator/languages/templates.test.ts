import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../core/index.ts';
import {
  RenderedTooLarge,
  Rendering,
  TemplateKeyInvalid,
  type TemplateScope,
  TemplateUnresolved,
} from './rendering.ts';
import { collectReferences, holdsTemplate, MAX_REFERENCES, parseTemplate, TemplateSyntaxError } from './templates.ts';

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
    // A value is never parsed as a template.
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
  test('at any depth, including keys', () => {
    const value = { a: ['{{input.n}}', { '{{input.name}}': '{{input.name}}', 'n-{{input.n}}': 2 }], b: 1, c: null };
    expect(render(value, scope)).toEqual({ a: [1, { Ada: 'Ada', 'n-1': 2 }], b: 1, c: null });
    const odd = { '{{input.key}}': 1, "{{ '{{' }}x": 2 };
    expect(JSON.stringify(render(odd, { ...scope, input: { key: '__proto__' } }))).toBe('{"__proto__":1,"{{x":2}');
    expect(render({ '{{steps.a.result.of}}': { '{{ input.none ?? input.name }}': [] } }, scope)).toEqual({
      a: { Ada: [] },
    });
  });
  test.each([
    [{ '{{input.n}}': 1 }, 'field: the key "{{input.n}}" is a number, and a key must be text'],
    [[{ x: { '{{input.list}}': 1 } }], 'the key "{{input.list}}" is a list, and a key must be text'],
    [{ '{{steps.a.result}}': 1 }, 'is an object, and'],
    [{ '{{input.nothing}}': 1 }, 'is null, and'],
    [{ Ada: 1, '{{input.name}}': 2 }, 'the key "{{input.name}}" gives "Ada", which the object has already'],
    [{ '{{input.name}}': 1, Ada: 2 }, 'the key "Ada" gives "Ada", which the object has already'],
    [{ '{{input.name}}': 1, 'Ad{{input.a}}': 2 }, 'gives "Ada", which the object has already'],
  ])('a key of %j is refused', (value, message) => {
    const from = { ...scope, input: { ...scope.input, a: 'a' } };
    expect(() => render(value as JsonValue, from)).toThrow(TemplateKeyInvalid);
    expect(() => render(value as JsonValue, from)).toThrow(message);
  });
  test('keys count towards the size of a field', () => {
    const large = { ...scope, input: { text: 'x'.repeat(600_000) } };
    expect(() => render({ 'a{{input.text}}': 1, 'b{{input.text}}': 2 }, large)).toThrow(RenderedTooLarge);
  });
  test('a key that does not resolve, or is malformed, fails like a value', () => {
    expect(() => render({ '{{input.missing}}': 1 }, scope)).toThrow(TemplateUnresolved);
    expect(() => render({ '{{oops}}': 1 }, scope)).toThrow(TemplateSyntaxError);
  });
  test.each([
    // A skipped step has the result null, which has no members.
    ['{{steps.skipped.result ?? steps.b.result}}', { of: 'b' }],
    ['{{steps.skipped.result.of ?? steps.b.result.of}}', 'b'],
    ['{{steps.a.result.of ?? steps.b.result.of}}', 'a'],
    ['{{steps.skipped.result ?? input.missing ?? steps.skipped.result.x ?? input.n}}', 1],
    ['{{steps.skipped.result ?? input.missing ?? "none"}}', 'none'],
    ['{{ steps.skipped.result??input.nothing??null }}', null],
    ['{{steps.skipped.result ?? input.nothing}}', null],
    ['{{steps["skipped"].result ?? steps["odd"].result.of}} of {{input.missing ?? input.name}}', 'odd of Ada'],
    ['{{steps.skipped.error.code ?? steps.skipped.result ?? false}}', false],
  ])('%s reads the first existing value', (text, expected) => {
    const result = (step: string): JsonValue => (step === 'skipped' ? null : { of: step });
    expect(render(text, { ...scope, result })).toEqual(expected);
  });
  test('an alternative reads the item of a loop', () => {
    const item = { item: { x: null }, index: 3 };
    expect(render('{{item.x ?? index}}', { ...scope, item })).toBe(3);
  });
  test('if no alternative resolves, the error names the last one', () => {
    expect(() => render('{{input.missing ?? input.gone}}', scope)).toThrow('{{input.gone}} does not resolve');
    const foreign = {
      ...scope,
      result: () => {
        throw new Error('no ancestor');
      },
    };
    expect(() => render('{{input.missing ?? steps.x.result ?? 1}}', foreign)).toThrow(TemplateUnresolved);
  });
  test.each([
    '{{input.a ?? 1 ?? input.b}}',
    '{{input.a ?? other.b}}',
    '{{input.a ?? }}',
    '{{input.a ?? input.}}',
    '{{input.a ?? steps.b}}',
    '{{input.a ? input.b}}',
    '{{input.a ?? inputs.b}}',
    '{{input.a ?? "x" }',
    "{{ 'x }}",
    "{{ 'x' ?? input.b }}",
    "{{ 'x''y' }}",
    '{{ "x }}',
  ])('%s is malformed', text => expect(() => render(text, scope)).toThrow(TemplateSyntaxError));
  test.each([
    ["{{ '{{' }}", '{{'],
    ["{{'{{'}}input.n}}", '{{input.n}}'],
    ["Hi {{ '{{name}}' }}, {{input.n}} {{ '}}' }}", 'Hi {{name}}, 1 }}'],
    ['{{ "{{\\"}}" }}', '{{"}}'],
    ["{{ '' }}", ''],
  ])('%s writes braces', (text, expected) => {
    expect(render(text, scope)).toBe(expected);
    expect(parseTemplate(text).whole).toBeNull();
  });
  test('texts around an escape are one part', () => {
    expect(parseTemplate("a{{ '{{' }}b{{input.n}}{{ 'c' }}").parts).toEqual([
      'a{{b',
      expect.objectContaining({ text: 'input.n' }),
      'c',
    ]);
  });
  test('references are found in alternatives and in keys', () => {
    const found = collectReferences({
      a: { 'x{{steps.k.result}}': '{{steps.s.result ?? input.x ?? steps.t.error}}' },
      '{{b': 1,
    });
    expect(found.map(item => [item.path, 'reference' in item ? item.reference.text : 'error'])).toEqual([
      ['a.x{{steps.k.result}}', 'steps.k.result'],
      ['a.x{{steps.k.result}}', 'steps.s.result'],
      ['a.x{{steps.k.result}}', 'input.x'],
      ['a.x{{steps.k.result}}', 'steps.t.error'],
      ['{{b', 'error'],
    ]);
    expect(holdsTemplate([{ '{{input.x}}': 1 }])).toBe(true);
  });
  test('a template with very many alternatives counts as many', () => {
    const text = `{{input.a${' ?? input.a'.repeat(MAX_REFERENCES)}}}`;
    expect(() => parseTemplate(text)).toThrow('more than 10000 templates');
    const half = `{{input.nothing${' ?? input.nothing'.repeat(MAX_REFERENCES / 2)}}}`;
    expect(() => render([half, half], scope)).toThrow('more than 10000 templates');
  });
  test('references are found with the names of their fields', () => {
    const found = collectReferences({ a: [{ url: 'x {{steps.s.result.u}}' }], b: '{{bad' });
    expect(found.map(item => [item.path, 'reference' in item ? item.reference.step : 'error'])).toEqual([
      ['a[0].url', 's'],
      ['b', 'error'],
    ]);
  });
});

describe('any text', () => {
  test('is rendered, or refused with one of our two errors', () => {
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
      ' ?? ',
      "'",
      "{{ '{{' }}",
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
  test('a megabyte of opening braces is refused at the first brace', () => {
    expect(() => parseTemplate('{{'.repeat(500_000))).toThrow(TemplateSyntaxError);
    expect(parseTemplate('{{input.a}}'.repeat(MAX_REFERENCES)).parts).toHaveLength(MAX_REFERENCES);
    expect(() => parseTemplate('{{input.a}}'.repeat(50_000))).toThrow('more than 10000 templates');
    expect(collectReferences(['{{input.a}}'.repeat(6_000), ' {{input.a}}'.repeat(6_000)]).at(-1)).toMatchObject({
      path: '[1]',
      error: { message: 'more than 10000 templates in one field' },
    });
  });
});
