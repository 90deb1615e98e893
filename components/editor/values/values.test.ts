import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { parseTemplate } from '../../../server/orchestrator/languages/templates.ts';
import { memberPath } from '../../ui/json-path.ts';
import { completionData, exampleOf, sampleData } from '../code/completion-data.ts';
import type { CompletionData } from '../code/example-values.ts';
import { readableAt } from '../code/readable.ts';
import { pathsRead, previewOf } from './template-preview.ts';
import { insertedText, pathText, readPath } from './value-path.ts';
import { valueTree, visibleRows } from './value-tree.ts';

describe('an inserted value', () => {
  const path = ['steps', 'my-step', 'result', 'lines', 0, 'unit price'];

  test('has the syntax of the field’s language', () => {
    expect(pathText(path, 'text')).toBe('steps["my-step"].result.lines[0]["unit price"]');
    expect(pathText(path, 'cel')).toBe('steps["my-step"].result.lines[0]["unit price"]');
    expect(pathText(path, 'lua')).toBe('steps["my-step"].result.lines[1]["unit price"]');
  });

  test.each<[string, Parameters<typeof insertedText>[1], string, string]>([
    ['a text', 'text', 'Dear ', '{{input.name}}'],
    ['a template that is begun', 'text', '{{input.a}} {{ ', 'input.name'],
    ['an expression', 'cel', 'size(', 'input.name'],
    ['a script', 'lua', 'return ', 'input.name'],
    ['JSON', 'json', '{"a": ', '"{{input.name}}"'],
    ['a text of JSON', 'json', '{"a": "Dear \\" ', '{{input.name}}'],
  ])('into %s', (_, language, before, expected) => {
    expect(insertedText(['input', 'name'], language, before)).toBe(expected);
  });

  test('keeps JSON valid', () => {
    const text = `{"a": ${insertedText(path, 'json', '{"a": ')}, "b": "x ${insertedText(path, 'json', '{"b": "x ')}"}`;
    expect(JSON.parse(text)).toEqual({ a: `{{${pathText(path, 'json')}}}`, b: `x {{${pathText(path, 'json')}}}` });
  });

  test('is a path that the template engine parses, and equals the result of “Copy path”', () => {
    const part = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('a', '_b', 'a-b', '__proto__', 'x"y'),
      fc.nat({ max: 999 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), rest => {
        const [read] = parseTemplate(insertedText(['input', ...rest], 'text', '')).parts;
        expect(read).toMatchObject({ source: 'input', path: rest });
        expect(pathText(['input', ...rest], 'text')).toBe(rest.reduce<string>(memberPath, 'input'));
      }),
    );
  });

  test('is parsed from a dragged text, if that is a path', () => {
    expect(readPath('["input","a",0]')).toEqual(['input', 'a', 0]);
    for (const other of ['', 'input.a', '[]', '{}', '[null]', '["a",{}]']) expect(readPath(other)).toBeNull();
  });
});

const graph: readonly Step[] = [
  { id: 'order', type: 'lua_script', name: 'Read the order' },
  {
    id: 'ask',
    type: 'human_task',
    depends_on: ['order'],
    form: { type: 'object', properties: { why: { type: 'string' } } },
  },
  { id: 'last', type: 'lua_script', depends_on: ['ask'] },
];
const declared = exampleOf({ type: 'object', properties: { email: { type: 'string' }, total: { type: 'number' } } });
const run = { input: { total: 5 }, results: new Map([['order', { lines: [{ sku: 'A 1' }], note: 'x'.repeat(99) }]]) };

function knownAt(step: string) {
  const readable = readableAt(graph, [step]);
  return {
    known: completionData(readable, { inputs: [declared], run, outputs: new Map() }),
    samples: sampleData(readable, { inputs: [], run }),
  };
}

describe('the tree of values', () => {
  test('contains the input and the results of earlier steps, with their last values', () => {
    const tree = valueTree(knownAt('last'));
    expect(tree.map(({ label, detail }) => [label, detail])).toEqual([
      ['Input', undefined],
      ['human_task', 'ask'],
      ['Read the order', 'order'],
    ]);
    const [input, , order] = tree;
    expect(input?.children.map(({ label, kind, sample }) => [label, kind, sample])).toEqual([
      // Only declared: the empty example text is not a value.
      ['email', 'text', undefined],
      ['total', 'number', '5'],
    ]);
    const found = visibleRows(tree, new Set(), 'sku order');
    expect(found.map(({ node }) => pathText(node.path, 'text'))).toEqual(['steps.order.result.lines[0].sku']);
    expect(found[0]?.node.sample).toBe('A 1');
    expect(order?.children.at(-1)?.sample).toBe(`${'x'.repeat(60)}…`);
    const open = new Set(input === undefined ? [] : [input.id]);
    expect(visibleRows(tree, open, '').map(({ node, level }) => [level, node.label])).toEqual([
      [1, 'Input'],
      [2, 'email'],
      [2, 'total'],
      [1, 'human_task'],
      [1, 'Read the order'],
    ]);
  });

  test('is limited for values of any depth and width', () => {
    let deep: CompletionData['input'] = 1;
    for (let depth = 0; depth < 50; depth++) deep = { deep };
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index]));
    const data: CompletionData = { input: { deep, wide }, steps: [], loop: { item: [[]] } };
    const rows = visibleRows(valueTree({ known: data, samples: data }), new Set(), 'k1');
    expect(rows).toHaveLength(11);
    expect(visibleRows(valueTree({ known: data, samples: data }), new Set(), '1')).toHaveLength(19);
  });
});

describe('the preview', () => {
  const { samples } = knownAt('last');

  test.each<[string, string | null]>([
    ['Total: {{input.total}}', 'Total: 5'],
    ['{{steps.order.result.lines}}', '[{"sku":"A 1"}]'],
    ['{{input.gone ?? steps.order.result.lines[0].sku}}', 'A 1'],
    ['{{input.gone ?? "none"}}', 'none'],
    ['{{input.gone}} of {{input.total}}', '{{input.gone}} of 5'],
    ["{{ '{{' }} {{input.total}}", '{{ 5'],
    ['{{input.gone}}', null],
    ['{{steps.order.error.message}}', null],
    ['{{input.', null],
    ['no template', null],
  ])('of %s', (text, expected) => {
    expect(previewOf(text, samples)).toBe(expected);
  });

  test('of an expression contains the values that it reads', () => {
    expect(
      pathsRead('input.total > 3 && steps.order.result.lines[0].sku != "input.total" && input.gone', samples),
    ).toEqual([
      { path: 'input.total', value: '5' },
      { path: 'steps.order.result.lines[0].sku', value: 'A 1' },
    ]);
    expect(pathsRead('steps["order"].result.note == "" || myinput.total > 1', samples)).toHaveLength(1);
  });
});
