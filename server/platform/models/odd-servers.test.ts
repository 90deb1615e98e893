import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { ManualClock } from '../clock.ts';
import type { Json } from '../json.ts';
import { createRedactor } from '../secrets/redaction.ts';
import { askModel, type ModelQuestion, type ModelReply } from './ask-model.ts';
import { type ModelAccess, type ModelProvider, modelProviders } from './providers.ts';
import { askTurn, type TurnReply } from './turn.ts';

const clock = new ManualClock();
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(() => server.close());

const bases: Record<ModelProvider, string> = {
  openai: '/v1',
  anthropic: '/v1',
  google: '/v1beta',
  mistral: '/mistral/v1',
  openai_compatible: '/v1',
};
const accessTo = (provider: ModelProvider): ModelAccess & { model: string } => ({
  provider,
  apiKey: 'sk-test',
  baseUrl: server.url + bases[provider],
  model: 'tiny',
});
const signal = new AbortController().signal;
const askOddServer = (provider: ModelProvider, object?: ModelQuestion['object']): Promise<ModelReply> =>
  askModel({ ...accessTo(provider), prompt: 'Hi', object }, { fetch, clock, signal });
/** Asks for a turn, as an agent or a chat does. */
const turn = (provider: ModelProvider, object?: ModelQuestion['object']): Promise<TurnReply> =>
  askTurn(
    {
      ...accessTo(provider),
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      tools: [],
      toolChoice: 'auto',
      object,
    },
    { fetch, clock, signal, redactor: createRedactor([]), onPiece: () => {} },
  );
const both = async (provider: ModelProvider, expected: object) => {
  expect(await askOddServer(provider)).toMatchObject(expected);
  expect(await turn(provider)).toMatchObject(expected);
};
const json = { 'Content-Type': 'application/json' };

describe.each(modelProviders)('%s', provider => {
  test('a refusal keeps its reason, and has its own code', async () => {
    server.reply({ refusal: 'I cannot help with lockpicking.', usage: { input: 3, output: 1 } });
    const byModel = provider === 'openai' || provider === 'openai_compatible';
    const reason = provider === 'mistral' ? 'content_filter' : 'I cannot help with lockpicking.';
    await both(provider, {
      kind: 'failed',
      code: byModel ? 'model_refused' : 'model_content_filtered',
      message: expect.stringContaining(reason),
      retryable: false,
    });
  });

  test('an error in the middle of a stream is classified by its name', async () => {
    server.reply({ text: 'Hel', streamError: { message: 'The engine is overloaded.', status: 503 } });
    await both(provider, {
      code: 'model_unavailable',
      retryable: true,
      message: expect.stringContaining('The engine is overloaded.'),
    });
    const type =
      provider === 'google'
        ? 'RESOURCE_EXHAUSTED'
        : provider === 'anthropic'
          ? 'rate_limit_error'
          : 'rate_limit_exceeded';
    server.reply({ text: 'Hel', streamError: { message: 'Too fast.', type, status: 429 } });
    await both(provider, {
      code: 'model_rate_limited',
      retryable: true,
      message: expect.stringContaining('Too fast.'),
    });
  });

  test('an error inside a 200 is also classified by its name', async () => {
    const cases: [Json, string, boolean][] = [
      [{ error: { message: 'No credit.', code: 'insufficient_quota' } }, 'model_quota_exhausted', false],
      [{ error: { message: 'Slow down.', code: 429 } }, 'model_rate_limited', true],
      [{ error: { message: 'Wrong key.', type: 'authentication_error' } }, 'model_unauthorized', false],
      [{ error: 'model "tiny" not found, try pulling it first', code: 'not_found_error' }, 'model_not_found', false],
      [{ error: 'Something broke.' }, 'model_unavailable', true],
      [[{ error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } }], 'model_request_invalid', false],
    ];
    for (const [body, code, retryable] of cases) {
      // Some servers declare it a stream all the same.
      for (const headers of [json, { 'Content-Type': 'text/event-stream' }]) {
        server.reply({ status: 200, headers, body: JSON.stringify(body) });
        await both(provider, { kind: 'failed', code, retryable });
      }
    }
  });

  test('JSON instead of a stream, a page and nothing at all', async () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }];
    server.reply({ status: 200, headers: json, body: `\ufeff\n${JSON.stringify({ id: '1', choices })}` });
    await both(provider, { code: 'model_answer_malformed', retryable: true, message: expect.stringContaining('JSON') });
    server.reply({ status: 200, body: '<!doctype html><title>Sign in</title>' });
    await both(provider, {
      code: 'model_answer_malformed',
      retryable: true,
      message: expect.stringContaining('a page'),
    });
    server.reply({ status: 200, headers: { 'Content-Type': 'text/event-stream' }, body: '' });
    await both(provider, { code: 'model_unavailable', retryable: true });
    server.reply({ status: 200, headers: { 'Content-Type': 'text/event-stream' }, body: ': ping\n\n\n' });
    await both(provider, { code: 'model_unavailable', retryable: true });
  });

  test('a stream that is cut, cleanly or not', async () => {
    server.reply({ text: 'Hel', raw: '' });
    await both(provider, { code: 'model_unavailable', retryable: true, message: expect.stringContaining('broke off') });
    server.reply({ text: 'Hel', hangUp: true });
    await both(provider, { code: 'model_unavailable', retryable: true });
  });

  test.each(['crlf', 'bytes'] as const)('frames in %s, with letters of any length', async frames => {
    const text = 'Grüße, 世界 👍\n\nZwei.';
    server.reply({ text: [...text], frames });
    expect(await askOddServer(provider)).toMatchObject({ kind: 'answer', text });
    expect(await turn(provider)).toMatchObject({ kind: 'answer', content: [{ type: 'text', text }] });
  });
});

describe('the JSON of an answer', () => {
  const person = {
    schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    problem: (value: Json) =>
      typeof (value as { name?: unknown } | null)?.name === 'string' ? '' : 'object: name is missing',
  };
  const ada = '{"name":"Ada </think> L."}';
  test.each([
    ['alone', ada, '', ada],
    ['behind thoughts', `<think>\nWho? {"name": 1}\n</think>\n\n${ada}`, 'Who? {"name": 1}', ada],
    ['behind thoughts that were begun in the prompt', `Who?</think>${ada}`, 'Who?', ada],
    ['behind no thoughts', `<think></think>${ada}`, '', ada],
    ['in a fence', `\`\`\`json\n${ada}\n\`\`\``, '', `\`\`\`json\n${ada}\n\`\`\``],
    [
      'in a fence behind thoughts and a sentence',
      `<thinking>Hm.</thinking>Here it is:\n\`\`\`\n${ada}\n\`\`\`\nDone.`,
      'Hm.',
      undefined,
    ],
  ])('is found %s', async (_, answer, reasoning, text) => {
    for (const provider of modelProviders) {
      server.reply({ text: [...answer] });
      const reply = await askOddServer(provider, person);
      expect(reply).toMatchObject({ kind: 'answer', object: JSON.parse(ada), ...(text && { text }) });
      if (reasoning === '') expect(reply).not.toHaveProperty('reasoning');
      else expect(reply).toHaveProperty('reasoning', reasoning);
      const answered = await turn(provider, person);
      expect(answered).toMatchObject({ kind: 'answer', object: JSON.parse(ada) });
      const parts = answered.kind === 'answer' ? answered.content.map(part => part.type) : [];
      expect(parts).toEqual(reasoning === '' ? ['text'] : ['reasoning', 'text']);
    }
  });
  test.each(['<think>', '<think>never ended {"name":"Ada"}', '```json\n{"name":\n```', 'Ada', '<think>x</think>'])(
    'is missed in %j',
    async text => {
      server.reply({ text });
      expect(await askOddServer('openai_compatible', person)).toMatchObject({
        code: 'response_schema_mismatch',
        retryable: true,
      });
    },
  );
  test('is found in linear time', async () => {
    for (const text of ['`'.repeat(200_000), '```\n'.repeat(50_000), '<think>'.repeat(30_000), '\n'.repeat(200_000)]) {
      server.reply({ text });
      const before = process.cpuUsage();
      expect(await askOddServer('openai_compatible', person)).toMatchObject({ code: 'response_schema_mismatch' });
      expect(process.cpuUsage(before).user / 1000).toBeLessThan(3_000);
    }
  });
});
