import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../platform/json.ts';
import { readCallResult } from '../../../platform/mcp-client/index.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { answerOf } from './tool-result.ts';

const text = (value: string) => ({ type: 'text' as const, text: value });
/** Converts a result as a server sends it. */
const convert = (sent: unknown, notes: string[] = []) =>
  answerOf(readCallResult(sent as Json), line => void notes.push(line));
const result = (value: unknown) => ({ kind: 'result', result: value });

describe('the answer of a tool', () => {
  test('is its structured content, if it has any', () => {
    expect(convert({ content: [text('{"a":1}')], structuredContent: { a: 1 } })).toEqual(result({ a: 1 }));
    expect(convert({ content: [], structuredContent: {} })).toEqual(result({}));
    for (const value of [[1, 2], 'x', 5, false]) expect(convert({ structuredContent: value })).toEqual(result(value));
    expect(convert({ content: [text('hi')], structuredContent: null })).toEqual(result({ content: [text('hi')] }));
  });

  test('includes the text beside structured content if the text differs', () => {
    const structured = { sum: 5 };
    expect(convert({ content: [text('Five.'), text('Ask again.')], structuredContent: structured })).toEqual(
      result({ sum: 5, text: 'Five.\nAsk again.' }),
    );
    for (const same of ['{ "sum": 5 }', '5', ' ']) {
      expect(convert({ content: [text(same)], structuredContent: structured })).toEqual(result(structured));
    }
    // FastMCP repeats the items of a list and a text in this way.
    expect(convert({ content: [text('1'), text('b')], structuredContent: { result: [1, 'b'] } })).toEqual(
      result({ result: [1, 'b'] }),
    );
    expect(convert({ content: [text('b')], structuredContent: { result: 'b' } })).toEqual(result({ result: 'b' }));
  });

  test('keeps its form if a text cannot be added, and logs the text', () => {
    const notes: string[] = [];
    expect(convert({ content: [text('Two.')], structuredContent: [1, 2] }, notes)).toEqual(result([1, 2]));
    expect(convert({ content: [text('Own.')], structuredContent: { text: 'mine' } }, notes)).toEqual(
      result({ text: 'mine' }),
    );
    const large = { a: 'x'.repeat(1_040_000) };
    expect(convert({ content: [text('y'.repeat(20_000))], structuredContent: large }, notes)).toEqual(result(large));
    expect(notes).toEqual(['Two.', 'Own.', 'y'.repeat(20_000)]);
  });

  test('is its single text block parsed, if that is a JSON object or list', () => {
    for (const value of ['{"a":[1]}', '[1]', ' {"b":null}\n', '[]']) {
      expect(convert({ content: [text(value)] })).toEqual(result(JSON.parse(value)));
    }
    const proto = convert({ content: [text('{"__proto__":{"x":1}}')] });
    expect(JSON.stringify(proto)).toContain('__proto__');
    expect(Object.getPrototypeOf(Reflect.get(proto, 'result'))).toBe(Object.prototype);
  });

  test.each(['42', '1e5', 'true', 'null', '"x"', '-0', '{not json}', '[1'])('stays text if it is %s', value => {
    expect(convert({ content: [text(value)] })).toEqual(result({ content: [text(value)] }));
  });

  test('stays text if its JSON cannot be stored unchanged, and logs why', () => {
    const notes: string[] = [];
    const deep = `${'['.repeat(150)}${']'.repeat(150)}`;
    expect(convert({ content: [text(deep)] }, notes)).toEqual(result({ content: [text(deep)] }));
    expect(notes).toEqual([expect.stringContaining('must not be nested deeper than 100')]);
  });

  test('keeps a number that is too large as its digits', () => {
    expect(convert({ content: [text('{"a":1e999,"b":9007199254740993}')] })).toEqual(
      result({ a: '1e999', b: 9_007_199_254_740_993n }),
    );
  });

  test('otherwise is all content, unchanged', () => {
    const blocks = [
      [text('hello')],
      [text('1'), text('2')],
      [],
      [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
      [{ type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }],
      [{ type: 'resource', resource: { uri: 'x://y', blob: 'aGk=' } }],
      [{ type: 'resource_link', uri: 'x://y', name: 'y' }],
      [{ type: 'hologram', depth: 3, note: null }, { kind: 'no type' }],
    ];
    for (const content of blocks) expect(convert({ content })).toEqual(result({ content }));
  });

  test.each<[string, unknown, unknown]>([
    ['no content', {}, { content: [] }],
    ['null', null, { content: [] }],
    ['a null content', { content: null, _meta: {} }, { content: [] }],
    ['a text for a list', { content: 'hi' }, { content: [text('hi')] }],
    ['a block for a list', { content: text('{"a":1}') }, { a: 1 }],
    ['texts for blocks', { content: ['a', null, 7] }, { content: [text('a'), text('7')] }],
    ['a text that is an object', { content: [{ type: 'text', text: { a: 1 } }] }, { a: 1 }],
    ['a text that is null', { content: [{ type: 'text', text: null }] }, { content: [text('')] }],
    ['a text alone', 'done', { content: [text('done')] }],
    ['a list alone', [1, 2], [1, 2]],
    ['a number alone', 0, 0],
    ['any other object', { celsius: 5, _meta: {} }, { celsius: 5 }],
    ['the result of 2024-10-07', { toolResult: [1] }, [1]],
    ['a null error flag', { content: [], isError: null, structuredContent: { a: 1 } }, { a: 1 }],
  ])('is read from %s', (_what, sent, expected) => {
    expect(convert(sent)).toEqual(result(expected));
  });

  test('is a failure if the tool reports one, with its text and details', () => {
    const failure = (content: unknown[], more: object = {}) => convert({ isError: true, content, ...more });
    expect(failure([text('no'), text('way')])).toEqual({
      kind: 'failed',
      code: 'tool_failed',
      message: 'no\nway',
      retryable: true,
    });
    expect(failure([], { structuredContent: { why: 1 } })).toMatchObject({
      message: '{"why":1}',
      details: { why: 1 },
    });
    expect(failure([text('No such order.')], { structuredContent: { code: 'E42' } })).toMatchObject({
      message: 'No such order.',
      details: { code: 'E42' },
    });
    expect(failure([text('{"code":"E42\\u0000"}')])).toMatchObject({ details: { code: 'E42\ufffd' } });
    expect(failure([text(' ')])).toMatchObject({ message: 'The tool failed without saying why.' });
    expect(failure([text('a\0b\ud800')])).toMatchObject({ message: 'ab\ufffd' });
    expect(convert({ isError: 'true', content: 'no' })).toMatchObject({ code: 'tool_failed', message: 'no' });
  });

  test('is a failure if it cannot be stored', () => {
    expect(convert({ content: [text('x'.repeat(1_100_000))] })).toMatchObject({
      code: 'result_too_large',
      retryable: false,
    });
    const large = { type: 'image', data: 'A'.repeat(1_100_000), mimeType: 'image/png' };
    expect(convert({ content: [large] })).toMatchObject({ code: 'result_too_large' });
    const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`);
    expect(convert({ structuredContent: deep })).toMatchObject({ code: 'result_not_storable' });
    expect(convert({ structuredContent: { a: Number.POSITIVE_INFINITY } })).toMatchObject({
      message: 'a of the tool’s result must be a finite number.',
    });
  });

  test('is read at any depth of nesting', () => {
    const deep = JSON.parse(`${'['.repeat(500_000)}${']'.repeat(500_000)}`);
    expect(convert({ structuredContent: deep })).toMatchObject({ code: 'result_not_storable' });
    expect(convert({ structuredContent: { a: deep }, content: [text('x')] })).toMatchObject({
      code: 'result_not_storable',
    });
    expect(convert({ content: [deep] })).toEqual(result({ content: [text('Nested too deeply.')] }));
    expect(convert({ content: [{ type: 'other', deep }] })).toMatchObject({ code: 'result_not_storable' });
    expect(convert({ isError: true, structuredContent: deep })).toMatchObject({
      message: 'The tool failed without saying why.',
    });
  });

  test('is cleaned of text that cannot be stored', () => {
    expect(convert({ content: [], structuredContent: { 'k\0': 'x\0\ud800' } })).toEqual(
      result({ 'k\ufffd': 'x\ufffd\ufffd' }),
    );
    expect(convert({ content: [text('a\0')] })).toEqual(result({ content: [text('a\ufffd')] }));
  });

  test('is always a result that can be stored, or a failure with a message', () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.oneof(fc.string({ unit: 'binary' }), fc.json()) }),
      fc.record({ type: fc.constant('image'), data: fc.base64String(), mimeType: fc.string() }),
      fc.jsonValue(),
    );
    const sent = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          content: fc.oneof(fc.array(block, { maxLength: 3 }), fc.jsonValue()),
          structuredContent: fc.jsonValue(),
          isError: fc.constantFrom(true, false, null, 'no', 0),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(sent, made => {
        const answer = convert(made);
        const isFailed = typeof made === 'object' && made !== null && Reflect.get(made, 'isError') === true;
        expect(answer.kind).toBe(isFailed ? 'failed' : 'result');
        if (answer.kind === 'result') expect(storageProblem(answer.result)).toBeNull();
        else expect(answer.message.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});
