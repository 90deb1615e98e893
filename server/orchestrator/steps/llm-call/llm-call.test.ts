import { describe, expect, test } from 'vitest';
import type { JsonMap } from '../../core/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { llmCall } from './llm-call.ts';
import type { ModelAnswer, ModelCall, ModelCaller } from './model-caller.ts';

const scope = { tenantId: 't', projectId: 'p' };
const answer: ModelAnswer = {
  kind: 'answer',
  text: 'Hi Ada.',
  model: 'openai/tiny-1',
  finishReason: 'stop',
  usage: { inputTokens: 7, outputTokens: 0 },
};

/** Records the request, logs a line and answers. */
function callerOf(reply: ModelAnswer) {
  const calls: ModelCall[] = [];
  const models: ModelCaller = {
    check: async (_, { model }) => (model === 'no' ? [{ path: 'model', code: 'model_malformed', message: 'no' }] : []),
    async call(call, { log }) {
      calls.push(call);
      log(['streamed']);
      return reply;
    },
  };
  return { models, calls };
}

function run(fields: JsonMap, { reply = answer, input = {} as JsonMap } = {}) {
  const { models, calls } = callerOf(reply);
  const lines: string[] = [];
  const attempt: Attempt = {
    run: { id: 'r', workflowId: 'w', version: 1, ...scope },
    step: { id: 'ask', type: 'llm_call', model: 'openai/tiny', prompt: 'Hi.', ...fields },
    attempt: 1,
    now: 0,
    input,
    traceparent: '00-trace',
    result: () => null,
    ancestors: () => new Set(),
    log: more => lines.push(...more),
  };
  const outcome = llmCall(models).execute(attempt, new AbortController().signal);
  return { outcome, calls, lines };
}

describe('the question', () => {
  test('is rendered, with all fields of the step', async () => {
    const { outcome, calls, lines } = run(
      {
        model: 'openai/{{input.size}}',
        prompt: 'Greet {{input.who}} as {{input.as}}',
        system: 'Be {{input.tone ?? "kind"}}.',
        temperature: 0.2,
        max_tokens: 50,
        response_schema: { type: 'object', properties: { pick: { enum: '{{input.choices}}' } } },
      },
      { input: { size: 'tiny', who: 'Ada', as: { a: 1 }, choices: ['x', 'y'] } },
    );
    expect(await outcome).toMatchObject({ kind: 'completed' });
    expect(calls).toEqual([
      {
        ...scope,
        model: 'openai/tiny',
        prompt: 'Greet Ada as {"a":1}',
        system: 'Be kind.',
        temperature: 0.2,
        maxTokens: 50,
        responseSchema: { type: 'object', properties: { pick: { enum: ['x', 'y'] } } },
        idempotencyKey: 'r:ask',
        traceparent: '00-trace',
      },
    ]);
    expect(lines).toEqual(['streamed']);
  });

  test.each([
    [{ prompt: '{{input.gone}}' }, {}, 'template_unresolved'],
    [{ prompt: '{{input.blank}}' }, { blank: ' \n' }, 'invalid_step'],
    [{ prompt: '{{input.huge}}' }, { huge: 'x'.repeat(4 * 1024 * 1024 + 1) }, 'rendered_too_large'],
    [{ response_schema: { type: '{{input.kind}}' } }, { kind: 'nonsense' }, 'invalid_step'],
    [{ temperature: 3 }, {}, 'invalid_step'],
  ])('%j cannot be asked', async (fields, input, code) => {
    const { outcome, calls } = run(fields as JsonMap, { input: input as JsonMap });
    expect(await outcome).toMatchObject({ kind: 'failed', error: { code }, retryable: false });
    expect(calls).toEqual([]);
  });
});

describe('the answer', () => {
  test('is the result; only used tokens are charged', async () => {
    expect(await run({}).outcome).toEqual({
      kind: 'completed',
      result: {
        text: 'Hi Ada.',
        model: 'openai/tiny-1',
        finish_reason: 'stop',
        usage: { input_tokens: 7, output_tokens: 0 },
      },
      consumed: [{ action: 'llm_input_tokens', quantity: 7 }],
    });
  });

  test('with an object and lines that arrived last', async () => {
    const reply: ModelAnswer = { ...answer, object: { pick: 'x' }, log: ['last'] };
    expect(await run({}, { reply }).outcome).toMatchObject({ result: { object: { pick: 'x' } }, log: ['last'] });
  });

  test('a failure keeps the usage, and the time to wait', async () => {
    const reply: ModelAnswer = {
      kind: 'failed',
      code: 'response_schema_mismatch',
      message: 'no',
      retryable: true,
      retryAfterMs: 5,
      usage: { inputTokens: 3, outputTokens: 4 },
    };
    expect(await run({}, { reply }).outcome).toEqual({
      kind: 'failed',
      error: { code: 'response_schema_mismatch', message: 'no' },
      retryable: true,
      retryAfterMs: 5,
      consumed: [
        { action: 'llm_input_tokens', quantity: 3 },
        { action: 'llm_output_tokens', quantity: 4 },
      ],
    });
  });
});

describe('at publish', () => {
  const check = (fields: JsonMap) =>
    llmCall(callerOf(answer).models).check({ id: 'ask', type: 'llm_call', prompt: 'Hi.', ...fields }, scope);

  test('the model is checked by the port, unless it is a template', async () => {
    expect(await check({ model: 'no' })).toMatchObject([{ path: 'model', code: 'model_malformed' }]);
    expect(await check({ model: 'openai/tiny' })).toEqual([]);
    expect(await check({ model: '{{input.model}}' })).toEqual([]);
  });

  test('the schema of the answer is checked like a form', async () => {
    const problems = await check({
      model: 'openai/tiny',
      response_schema: { type: 'array', properties: { a: { $ref: '#/b' }, c: { pattern: '(' } } },
    });
    expect(problems).toMatchObject([
      { path: 'response_schema.properties.a.$ref', code: 'response_schema_invalid' },
      { path: 'response_schema.properties.c.pattern', code: 'response_schema_invalid' },
      { path: 'response_schema.type', code: 'response_schema_invalid', message: expect.stringContaining('object') },
    ]);
    expect(await check({ model: 'openai/tiny', response_schema: { type: '{{input.x}}' } })).toEqual([]);
  });

  test('without a model caller the step cannot be published', async () => {
    const type = llmCall(undefined);
    expect(type.available).toMatchObject({ message: expect.stringContaining('llm_call') });
    expect(await type.check({ id: 'a', type: 'llm_call', model: 'openai/x', prompt: 'p' }, scope)).toEqual([]);
  });
});
