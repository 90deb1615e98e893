import { describe, expect, test } from 'vitest';
import type { JsonMap, JsonValue } from '../core/index.ts';
import type { Attempt } from '../ports/step-type.ts';
import { outcomeOf } from '../steps/failure.ts';
import { humanTask } from '../steps/human-task/human-task.ts';
import { MAX_RENDERED_BYTES, RenderedTooLarge, Rendering, type TemplateScope } from './rendering.ts';
import { MAX_REFERENCES, parseTemplate, TemplateSyntaxError } from './templates.ts';

const MIB = MAX_RENDERED_BYTES;
const scopeWith = (value: JsonValue): TemplateScope & { reads: number } => ({
  input: { value },
  reads: 0,
  result() {
    this.reads += 1;
    return value;
  },
});

describe('a rendered field', () => {
  test.each<[string, JsonValue, string, number]>([
    ['a text', 'x'.repeat(MIB - 4), '<{{input.value}}>', 2],
    ['a text of more bytes than characters', `${'é'.repeat(MIB / 2 - 2)}`, '<{{input.value}}>', 2],
    ['JSON', ['x'.repeat(MIB - 8)], '<{{input.value}}>', 2],
    ['the same text twice', 'x'.repeat(MIB / 2 - 2), '{{input.value}}{{input.value}}<>', 2],
    ['a fallback', null, `{{input.value ?? "${'x'.repeat(MIB - 4)}"}}<>`, 2],
  ])('may have at most 1 MiB: %s', (_what, value, template, left) => {
    const scope = scopeWith(value);
    const filled = template + 'y'.repeat(left);
    expect(Buffer.byteLength(new Rendering(scope).text('body', filled))).toBe(MIB);
    expect(Buffer.byteLength(new Rendering(scope).text('body', filled.slice(0, -1)))).toBe(MIB - 1);
    expect(() => new Rendering(scope).text('body', `${filled}y`)).toThrow(
      new RenderedTooLarge('body', MAX_RENDERED_BYTES),
    );
  });

  test('counts the values that its templates insert at any depth, whole values as JSON', () => {
    const scope = scopeWith('x'.repeat(MIB / 4 - 1));
    const args = (n: number): JsonMap => ({ list: Array.from({ length: n }, () => ['{{input.value}}']) });
    expect(new Rendering(scope).value('tool_args', args(4))).toMatchObject({ list: { length: 4 } });
    expect(() => new Rendering(scope).value('tool_args', args(5))).toThrow(
      'the rendered `tool_args` is larger than 1 MiB',
    );
    expect(() => new Rendering(scope).value('tool_args', args(9), 2 * MIB)).toThrow('larger than 2 MiB');
    expect(new Rendering(scope).value('tool_args', args(8), 2 * MIB)).toMatchObject({ list: { length: 8 } });
  });

  test('has its own budget', () => {
    const rendering = new Rendering(scopeWith('x'.repeat(MIB - 1)));
    for (const field of ['a', 'b', 'c']) expect(rendering.text(field, '{{input.value}}y')).toHaveLength(MIB);
  });

  test('stops as soon as it exceeds its limit', () => {
    const scope = scopeWith('x'.repeat(900_000));
    expect(() => new Rendering(scope).text('body', '{{steps.a.result}} '.repeat(5_000))).toThrow(RenderedTooLarge);
    expect(scope.reads).toBe(2);
  });
});

test('a value is serialized once, however many templates read it', () => {
  let times = 0;
  const value = {
    toJSON: () => {
      times += 1;
      return 'J';
    },
  } as unknown as JsonValue;
  const rendering = new Rendering(scopeWith(value));
  const text = ' {{input.value}}'.repeat(5_000);
  expect(rendering.text('a', text)).toBe(' "J"'.repeat(5_000));
  expect(rendering.value('b', { text, whole: ['{{input.value}}', '{{input.value}}'] })).toMatchObject({
    whole: [value, value],
  });
  expect(times).toBe(1);
});

describe('templates in one field', () => {
  const texts = (count: number) => Array.from({ length: count }, () => '{{input.value}}');
  test.each([MAX_REFERENCES - 1, MAX_REFERENCES])('%i are rendered', count => {
    expect(new Rendering(scopeWith(1)).text('a', ` ${texts(count).join('')}`)).toHaveLength(count + 1);
    expect(new Rendering(scopeWith(1)).value('a', texts(count))).toHaveLength(count);
  });
  test('one more template is refused', () => {
    const count = MAX_REFERENCES + 1;
    expect(() => new Rendering(scopeWith(1)).text('a', texts(count).join(''))).toThrow(TemplateSyntaxError);
    expect(() => new Rendering(scopeWith(1)).value('a', texts(count))).toThrow(
      'more than 10000 templates in one field',
    );
  });
  test('a fallback may be nested 60 levels deep, and no deeper', () => {
    const nested = (depth: number) => `{{input.gone ?? ${'['.repeat(depth)}${']'.repeat(depth)}}}`;
    expect(parseTemplate(nested(60)).whole).not.toBeNull();
    expect(() => parseTemplate(nested(61))).toThrow('more than 60 levels deep');
  });
});

test('a step fails with an error that names the field', async () => {
  expect(outcomeOf(new RenderedTooLarge('prompt', 4 * MIB))).toMatchObject({
    kind: 'failed',
    retryable: false,
    error: { code: 'rendered_too_large', message: 'the rendered `prompt` is larger than 4 MiB' },
  });
  const attempt = {
    ...scopeWith(null),
    step: { id: 'a', type: 'human_task', instructions: '{{input}}'.repeat(5_000) },
    input: { value: 'x'.repeat(900_000) },
    now: 0,
  } as unknown as Attempt;
  expect(await humanTask.execute(attempt, new AbortController().signal)).toMatchObject({
    error: { code: 'rendered_too_large', message: 'the rendered `instructions` is larger than 1 MiB' },
  });
});
