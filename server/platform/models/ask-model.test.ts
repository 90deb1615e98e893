import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ModelServer, type ScriptedReply, startModelServer } from '../../testing/model-server.ts';
import { ManualClock } from '../clock.ts';
import { EgressRefused } from '../egress/egress.ts';
import { askModel, type ModelQuestion, type ModelReply, type ModelSurroundings } from './ask-model.ts';
import { listModels } from './list-models.ts';
import { type ModelAccess, type ModelProvider, modelProviders } from './providers.ts';

const clock = new ManualClock();
const KEY = 'sk-test-0123456789abcdef';
let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
});
beforeEach(() => {
  server.requests.length = 0;
  server.reply({ text: 'Hello.' });
  server.expectKey(KEY);
});
afterAll(() => server.close());

const bases: Record<ModelProvider, string> = {
  openai: '/v1',
  anthropic: '/v1',
  google: '/v1beta',
  mistral: '/mistral/v1',
  openai_compatible: '/v1',
};
const accessTo = (provider: ModelProvider): ModelAccess => ({
  provider,
  apiKey: KEY,
  baseUrl: server.url + bases[provider],
});

function askScripted(
  provider: ModelProvider,
  more: Partial<ModelQuestion> = {},
  on: Partial<ModelSurroundings> = {},
): Promise<ModelReply> {
  return askModel(
    { ...accessTo(provider), model: 'tiny', prompt: 'Say hello.', ...more },
    { fetch, clock, signal: new AbortController().signal, ...on },
  );
}

const person = {
  schema: {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
    additionalProperties: false,
  },
  problem: (value: unknown) =>
    typeof (value as { name?: unknown } | null)?.name === 'string' ? '' : 'result.name: is missing',
};

describe.each(modelProviders)('%s', provider => {
  test('streams the text, and reports model and usage', async () => {
    server.reply({ text: ['Hel', 'lo', ' there.'], usage: { input: 21, output: 7 }, model: 'tiny-2026-01-01' });
    const pieces: string[] = [];
    const reply = await askScripted(provider, { maxTokens: 100 }, { onText: piece => pieces.push(piece) });
    expect(reply).toEqual({
      kind: 'answer',
      written: 12,
      text: 'Hello there.',
      // Anthropic's and Google's libraries return the name of the requested model.
      model: expect.stringMatching(/^tiny/),
      usage: { inputTokens: 21, outputTokens: 7 },
      cut: false,
      warnings: [],
    });
    expect(pieces.join('')).toBe('Hello there.');
    expect(pieces.length).toBeGreaterThan(1);
  });

  test('sends key, headers, instructions and limits, once', async () => {
    const headers = { 'Idempotency-Key': 'run:step', traceparent: '00-1-2-01' };
    await askScripted(provider, { system: 'Be brief.', temperature: 0.5, maxTokens: 77, headers });
    expect(server.requests).toHaveLength(1);
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({ 'idempotency-key': 'run:step', traceparent: '00-1-2-01' });
    const sent = JSON.stringify(request?.body);
    for (const part of ['Be brief.', 'Say hello.', '0.5', '77']) expect(sent).toContain(part);
  });

  test('returns an object that fits the schema, which is sent to the provider', async () => {
    server.reply({ text: ['{"na', 'me":"Ada"}'] });
    const reply = await askScripted(provider, { object: person });
    expect(reply).toMatchObject({ kind: 'answer', object: { name: 'Ada' }, text: '{"name":"Ada"}' });
    expect(JSON.stringify(server.requests[0]?.body)).toContain('"name"');
  });

  test('an answer that does not fit may be asked for again; its tokens were used', async () => {
    for (const text of ['{"nome":"Ada"}', 'Ada', '']) {
      server.reply({ text, usage: { input: 5, output: 4 } });
      expect(await askScripted(provider, { object: person })).toMatchObject({
        kind: 'failed',
        code: 'response_schema_mismatch',
        retryable: true,
        usage: { inputTokens: 5, outputTokens: 4 },
      });
    }
  });

  test('an answer at the token limit is cut, which makes JSON invalid', async () => {
    server.reply({ text: '{"name":', finish: 'length', usage: { input: 5, output: 4 } });
    expect(await askScripted(provider)).toMatchObject({ kind: 'answer', cut: true, text: '{"name":' });
    expect(await askScripted(provider, { object: person })).toMatchObject({
      code: 'model_output_truncated',
      retryable: false,
      usage: { outputTokens: 4 },
    });
  });

  test.each([
    [400, 'model_request_invalid', false],
    [401, 'model_unauthorized', false],
    [403, 'model_unauthorized', false],
    [404, 'model_not_found', false],
    [408, 'model_unavailable', true],
    [409, 'model_unavailable', true],
    [422, 'model_request_invalid', false],
    [429, 'model_rate_limited', true],
    [500, 'model_unavailable', true],
    [503, 'model_unavailable', true],
    [529, 'model_unavailable', true],
  ])('%i is %s, retryable: %s', async (status, code, retryable) => {
    server.reply({ status, message: 'It is the provider who says so.' });
    const reply = await askScripted(provider);
    expect(reply).toMatchObject({ kind: 'failed', code, retryable });
    expect(reply).not.toHaveProperty('usage');
    expect((reply as { message: string }).message).toContain(
      status === 401 ? '(401)' : 'It is the provider who says so.',
    );
    expect(server.requests, 'asked once').toHaveLength(1);
  });

  test('a key that is not accepted is not repeated', async () => {
    server.expectKey('another');
    const reply = await askScripted(provider);
    expect(reply).toMatchObject({ code: 'model_unauthorized', retryable: false });
    expect(JSON.stringify(reply)).not.toContain(KEY);
  });

  test('a page of HTML is not quoted, and a long message is cut', async () => {
    server.reply({ status: 502, body: `<html>${'<p>secret internals</p>'.repeat(10_000)}</html>` });
    const page = await askScripted(provider);
    expect(page).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(JSON.stringify(page)).not.toContain('internals');
    server.reply({ status: 400, message: 'x'.repeat(50_000) });
    expect(JSON.stringify(await askScripted(provider)).length).toBeLessThan(700);
  });

  test('an answer that breaks off, or cannot be read, may be requested again', async () => {
    server.reply({ text: 'Hel', raw: 'data: {"broken": \n\n' });
    expect(await askScripted(provider)).toMatchObject({ code: 'model_answer_malformed', retryable: true });
    server.reply({ text: 'Hel', hangUp: true });
    expect(await askScripted(provider)).toMatchObject({ kind: 'failed', code: 'model_unavailable', retryable: true });
    server.reply({ text: 'Hel', raw: '' });
    expect(await askScripted(provider), 'a stream that ends as if it were complete').toMatchObject({
      kind: 'failed',
      retryable: true,
    });
    server.reply({ status: 200, body: 'not an event stream' });
    expect(await askScripted(provider)).toMatchObject({ kind: 'failed', retryable: true });
  });

  test('cancelled midway: it settles, and the provider sees the client disconnect', async () => {
    const stop = new AbortController();
    server.reply({ text: endless() });
    const pieces: string[] = [];
    const reply = await askScripted(
      provider,
      {},
      {
        signal: stop.signal,
        onText: piece => {
          pieces.push(piece);
          stop.abort();
        },
      },
    );
    expect(reply).toMatchObject({ kind: 'failed', code: 'cancelled', retryable: false });
    await server.requests[0]?.left;
  });

  test('more than 1 MiB of text is cut off, and the provider sees it', async () => {
    server.reply({ text: endless('x'.repeat(50_000)) });
    expect(await askScripted(provider)).toMatchObject({ code: 'model_answer_too_large', retryable: false });
    await server.requests[0]?.left;
  });

  test('usage may be absent', async () => {
    server.reply({ usage: null, text: 'Hi.' });
    const reply = await askScripted(provider);
    expect(reply).toMatchObject({ kind: 'answer', text: 'Hi.' });
    // Anthropic's messages always carry counts.
    if (provider !== 'anthropic') expect(reply).not.toHaveProperty('usage');
  });

  test('lists its models, or says why it cannot', async () => {
    const on = { fetch, clock, signal: new AbortController().signal };
    expect(await listModels(accessTo(provider), on)).toEqual({ kind: 'models', models: ['tiny', 'large'] });
    server.expectKey('another');
    expect(await listModels(accessTo(provider), on)).toMatchObject({ code: 'model_unauthorized' });
    expect(await listModels({ ...accessTo(provider), baseUrl: `${server.url}/nowhere` }, on)).toMatchObject({
      code: 'model_not_found',
    });
  });
});

/** Yields pieces without end, each in a separate turn of the event loop. */
async function* endless(piece = 'word '): AsyncGenerator<string> {
  for (;;) {
    yield piece;
    await wait(1);
  }
}

describe('an answer that the content filter stops', () => {
  test.each(modelProviders.filter(provider => provider !== 'mistral'))('%s', async provider => {
    server.reply({ text: 'I', finish: 'filter', usage: { input: 3, output: 1 } });
    expect(await askScripted(provider)).toMatchObject({
      code: 'model_content_filtered',
      retryable: false,
      usage: { inputTokens: 3, outputTokens: 1 },
    });
  });
});

describe('Retry-After', () => {
  const limited = (headers: Record<string, string>): ScriptedReply => ({ status: 429, headers });
  test.each([
    ['in seconds', { 'Retry-After': '7' }, 7_000],
    ['as a date', { 'Retry-After': new Date(clock.now() + 90_000).toUTCString() }, 90_000],
    ['as a date that has passed', { 'Retry-After': new Date(clock.now() - 90_000).toUTCString() }, 0],
    ['in ms', { 'retry-after-ms': '250', 'Retry-After': '9' }, 250],
    ['for a year', { 'Retry-After': '31536000' }, 3_600_000],
  ])('%s', async (_, headers, ms) => {
    server.reply(limited(headers));
    expect(await askScripted('openai')).toMatchObject({ code: 'model_rate_limited', retryAfterMs: ms });
  });

  test('is ignored if it is invalid, or if the error is permanent', async () => {
    server.reply(limited({ 'Retry-After': 'soon' }));
    expect(await askScripted('openai')).not.toHaveProperty('retryAfterMs');
    server.reply({ status: 400, headers: { 'Retry-After': '7' } });
    expect(await askScripted('openai')).not.toHaveProperty('retryAfterMs');
  });
});

describe('errors in the middle of a stream', () => {
  test.each([
    ['anthropic', 'overloaded_error', 'model_unavailable', true],
    ['anthropic', 'rate_limit_error', 'model_rate_limited', true],
    ['anthropic', 'invalid_request_error', 'model_request_invalid', false],
  ] as const)('%s: %s is %s', async (provider, type, code, retryable) => {
    const error = { type: 'error', error: { type, message: 'It says so.' } };
    server.reply({ text: 'Hel', raw: `event: error\ndata: ${JSON.stringify(error)}\n\n` });
    expect(await askScripted(provider)).toMatchObject({
      code,
      retryable,
      message: expect.stringContaining('It says so.'),
    });
  });

  test('of a server without a status', async () => {
    server.reply({ text: 'Hel', raw: 'data: {"error":{"message":"CUDA out of memory"}}\n\n' });
    expect(await askScripted('openai_compatible')).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
      message: expect.stringContaining('CUDA out of memory'),
    });
  });
});

describe('on the way', () => {
  test('an exhausted quota is not retryable', async () => {
    server.reply({ status: 429, code: 'insufficient_quota', message: 'You exceeded your current quota.' });
    expect(await askScripted('openai')).toMatchObject({ code: 'model_quota_exhausted', retryable: false });
  });

  test('a redirect is not followed', async () => {
    server.reply({ status: 307, headers: { Location: `${server.url}/v1/chat/completions` }, body: '' });
    expect(await askScripted('anthropic')).toMatchObject({
      code: 'model_request_invalid',
      message: expect.stringContaining('redirect'),
    });
    expect(server.requests).toHaveLength(1);
  });

  test('a refusal of the egress guard keeps its message', async () => {
    const refuse = async () => {
      throw new EgressRefused('The host db.internal is private.');
    };
    for (const provider of modelProviders) {
      expect(await askScripted(provider, {}, { fetch: refuse })).toMatchObject({
        code: 'egress_refused',
        message: 'The host db.internal is private.',
        retryable: false,
      });
    }
  });

  test('an unreachable server may be tried again', async () => {
    const gone = await startModelServer();
    await gone.close();
    expect(await askScripted('openai_compatible', { baseUrl: `${gone.url}/v1` })).toMatchObject({
      code: 'model_unavailable',
      retryable: true,
      message: 'OpenAI-compatible server could not be reached (ECONNREFUSED).',
    });
  });

  test('a defect of our own is thrown, not blamed on the provider', async () => {
    const broken = () => {
      throw new RangeError('our mistake');
    };
    await expect(askScripted('openai', {}, { onText: broken })).rejects.toThrow('our mistake');
  });
});

describe('provider-specific behavior', () => {
  test('OpenAI is told to store nothing, and to be strict only if its strict mode accepts the schema', async () => {
    server.reply({ text: '{"name":"Ada"}' });
    await askScripted('openai', { object: person });
    const loose = { ...person, schema: { type: 'object', properties: { name: {}, age: {} }, required: ['name'] } };
    await askScripted('openai', { object: loose });
    expect(server.requests.map(({ body }) => body)).toMatchObject([
      { store: false, stream: true, text: { format: { type: 'json_schema', strict: true, schema: person.schema } } },
      { store: false, text: { format: { type: 'json_schema', strict: false } } },
    ]);
  });

  test('a local server needs no key, also gets the schema in the instructions, and may fence its JSON', async () => {
    server.reply({ text: '```json\n{"name":"Ada"}\n```' });
    const { provider, baseUrl } = accessTo('openai_compatible');
    const reply = await askModel(
      { provider, baseUrl, model: 'tiny', prompt: 'Who?', system: 'Be brief.', object: person },
      { fetch, clock, signal: new AbortController().signal },
    );
    expect(reply).toMatchObject({ code: 'model_unauthorized' });
    expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(await askScripted('openai_compatible', { object: person, system: 'Be brief.' })).toMatchObject({
      object: { name: 'Ada' },
    });
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        { role: 'system', content: expect.stringMatching(/^Be brief\.\n\nAnswer with JSON alone.*"name"/s) },
        {},
      ],
      stream_options: { include_usage: true },
    });
  });
});
