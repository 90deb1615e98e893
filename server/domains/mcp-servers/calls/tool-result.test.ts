import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storageProblem } from '../../../platform/storable-json.ts';
import { answerOf } from './tool-result.ts';

const text = (value: string) => ({ type: 'text' as const, text: value });
const of = (result: unknown) => answerOf(CallToolResultSchema.parse(result));

describe('the answer of a tool', () => {
  test('is its structured content where there is some', () => {
    expect(of({ content: [text('{"a":2}')], structuredContent: { a: 1 } })).toEqual({
      kind: 'result',
      result: { a: 1 },
    });
    expect(of({ content: [], structuredContent: {} })).toEqual({ kind: 'result', result: {} });
  });

  test('is its single text block parsed, where it is JSON', () => {
    for (const value of ['{"a":[1]}', '[1]', '42', 'null', '"x"', ' true ']) {
      expect(of({ content: [text(value)] })).toEqual({ kind: 'result', result: JSON.parse(value) });
    }
    const proto = of({ content: [text('{"__proto__":{"x":1}}')] });
    expect(JSON.stringify(proto)).toContain('__proto__');
    expect(Object.getPrototypeOf(Reflect.get(proto, 'result'))).toBe(Object.prototype);
  });

  test('is all content as it came otherwise', () => {
    const blocks = [
      [text('hello')],
      [text('1'), text('2')],
      [],
      [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
      [{ type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }],
      [{ type: 'resource', resource: { uri: 'x://y', blob: 'aGk=' } }],
      [{ type: 'resource_link', uri: 'x://y', name: 'y' }],
    ];
    for (const content of blocks) expect(of({ content })).toEqual({ kind: 'result', result: { content } });
  });

  test('is a failure where the tool says so, with what it says', () => {
    const failure = (content: unknown[], more: object = {}) => of({ isError: true, content, ...more });
    expect(failure([text('no'), text('way')])).toMatchObject({
      code: 'tool_failed',
      message: 'no\nway',
      retryable: true,
    });
    expect(failure([], { structuredContent: { why: 1 } })).toMatchObject({ message: '{"why":1}' });
    expect(failure([text(' ')])).toMatchObject({ message: 'The tool failed without saying why.' });
    expect(failure([text('a\0b\ud800')])).toMatchObject({ message: 'ab\ufffd' });
  });

  test('is a failure where it cannot be kept', () => {
    expect(of({ content: [text('x'.repeat(1_100_000))] })).toMatchObject({
      code: 'result_too_large',
      retryable: false,
    });
    const large = { type: 'image', data: 'A'.repeat(1_100_000), mimeType: 'image/png' };
    expect(of({ content: [large] })).toMatchObject({ code: 'result_too_large' });
    expect(of({ content: [], structuredContent: { a: 'x\0' } })).toMatchObject({ code: 'result_not_storable' });
    expect(of({ content: [text(`${'['.repeat(150)}${']'.repeat(150)}`)] })).toMatchObject({
      code: 'result_not_storable',
    });
    expect(of({ content: [text('{"a":1e999}')] })).toMatchObject({ code: 'result_not_storable' });
  });

  test('is always a result that can be kept, or a failure with a message', () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.oneof(fc.string({ unit: 'binary' }), fc.json()) }),
      fc.record({ type: fc.constant('image'), data: fc.base64String(), mimeType: fc.string() }),
    );
    const result = fc.record(
      {
        content: fc.array(block, { maxLength: 3 }),
        structuredContent: fc.dictionary(fc.string(), fc.jsonValue()),
        isError: fc.boolean(),
      },
      { requiredKeys: ['content'] },
    );
    fc.assert(
      fc.property(result, made => {
        const answer = of(made);
        if (answer.kind === 'result') expect(storageProblem(answer.result)).toBeNull();
        else expect(answer.message.length).toBeGreaterThan(0);
        expect(answer.kind === 'failed' && answer.code === 'tool_failed').toBe(made.isError === true);
      }),
      { numRuns: 500 },
    );
  });
});
