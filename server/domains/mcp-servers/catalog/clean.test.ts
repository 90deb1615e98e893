import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { bounds, cleanCatalog, cleanText } from './clean.ts';

const tool = (name: string, more: Partial<McpTool> = {}): McpTool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});

describe('text', () => {
  test.each([
    ['a\u0000b\u0007c', 'abc'],
    ['line\r\nline\tx', 'line\nline\tx'],
    ['safe\u202etxt.exe', 'safetxt.exe'],
    ['in\u200bvis\u2060ible\ufeff', 'invisible'],
    [`ok${String.fromCodePoint(0xe0041, 0xe0042)}`, 'ok'],
    ['half \ud800 pair', 'half \ufffd pair'],
    ['  around  ', 'around'],
    ['<b>markup</b> [stays](javascript:1)', '<b>markup</b> [stays](javascript:1)'],
  ])('%j → %j', (text, clean) => {
    expect(cleanText(text, 100)).toBe(clean);
  });

  it('is cut at the bound, for any text', () => {
    expect(cleanText('abcdef', 4)).toBe('abc…');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (text, max) => {
        const clean = cleanText(text, max);
        expect(clean.length).toBeLessThanOrEqual(max);
        expect(storageProblem(clean)).toBeNull();
      }),
    );
  });
});

describe('a catalog', () => {
  it('is sorted by name, with its texts cleaned and its schemas unchanged', () => {
    const schema = {
      type: 'object',
      properties: { q: { type: 'string', pattern: '^\u200b?$', description: 'a\u0007b' } },
    };
    const { tools, warnings } = cleanCatalog([
      tool('zeta'),
      tool('alpha', {
        title: '\u202eTitle',
        description: 'Does\u0000 things',
        inputSchema: schema,
        annotations: { readOnlyHint: true },
      }),
    ]);
    expect(warnings).toEqual([]);
    expect(tools).toEqual([
      {
        name: 'alpha',
        title: 'Title',
        description: 'Does things',
        inputSchema: { type: 'object', properties: { q: { type: 'string', pattern: '^\u200b?$', description: 'ab' } } },
        annotations: { readOnlyHint: true },
      },
      { name: 'zeta', inputSchema: { type: 'object' } },
    ]);
  });

  test.each<[string, McpTool, string]>([
    ['an empty name', tool(''), 'must have 1 to 200 characters'],
    ['a long name', tool('n'.repeat(201)), 'must have 1 to 200 characters'],
    ['a name that hides something', tool('pay\u200b'), 'invisible characters'],
    ['a name with a space', tool('two words'), 'invisible characters'],
    ['a large schema', tool('x', { inputSchema: { type: 'object', title: 't'.repeat(70_000) } }), 'larger than 64 KiB'],
    ['a NUL in a schema', tool('x', { inputSchema: { type: 'object', const: 'a\0' } }), 'without NUL'],
    [
      'a deep schema',
      tool('x', { outputSchema: JSON.parse(`${'{"a":'.repeat(150)}1${'}'.repeat(150)}`) }),
      'nested deeper',
    ],
  ])('leaves out a tool with %s, with a warning', (_, bad, why) => {
    const { tools, warnings } = cleanCatalog([bad, tool('good')]);
    expect(tools.map(each => each.name)).toEqual(['good']);
    expect(warnings).toEqual([expect.stringContaining(why)]);
  });

  it('keeps the first tool of a name', () => {
    const { tools, warnings } = cleanCatalog([tool('a', { title: 'First' }), tool('a', { title: 'Second' })]);
    expect(tools).toMatchObject([{ title: 'First' }]);
    expect(warnings).toEqual(['The tool “a” was left out: its name is given twice.']);
  });

  it('is bounded in number and size, and so are its warnings', () => {
    const many = Array.from({ length: bounds.tools + 5 }, (_, index) => tool(`t${index}`));
    expect(cleanCatalog(many).tools).toHaveLength(bounds.tools);
    const large = Array.from({ length: 60 }, (_, index) =>
      tool(`t${index}`, {
        inputSchema: { type: 'object', $comment: 'c'.repeat(7_000), enum: Array(800).fill('e'.repeat(60)) },
      }),
    );
    const { tools, warnings } = cleanCatalog(large);
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(bounds.catalogBytes);
    expect(warnings.at(-1)).toContain('too large');
    expect(cleanCatalog(Array.from({ length: 900 }, () => tool(''))).warnings).toHaveLength(bounds.warnings);
  });

  it('cuts a long description, with a warning', () => {
    const { tools, warnings } = cleanCatalog([tool('a', { description: 'd'.repeat(9_000) })]);
    expect(tools[0]?.description).toHaveLength(bounds.descriptionLength);
    expect(warnings).toEqual(['The description of “a” was cut at 8000 characters.']);
  });

  it('treats a schema that names a prototype as data', () => {
    const inputSchema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}');
    const { tools } = cleanCatalog([tool('a', { inputSchema })]);
    expect(Object.getPrototypeOf(tools[0]?.inputSchema.properties)).toBe(Object.prototype);
    expect(JSON.stringify(tools[0]?.inputSchema)).toBe(JSON.stringify(inputSchema));
  });
});
