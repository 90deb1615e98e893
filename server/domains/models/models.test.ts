import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { modelProviders } from '../../platform/models/providers.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant } from '../../testing/identity.ts';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { providerNames } from './schemas.ts';

const KEY = 'sk-live-0123456789abcdefghij';
type Body = Record<string, unknown> & { id: string };

let service: TestContainer;
let models: ModelServer;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  models = await startModelServer();
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' });
});
afterAll(async () => {
  await service.close();
  await models.close();
});
/** Each test has a separate workspace; `acme` is the caller's. */
let turn = 0;
let acme = '';
beforeEach(async () => {
  acme = `acme-${++turn}`;
  const tenant = await createTestTenant(service.container.services, { slug: acme });
  tokens[acme] = (await createTestPat(service.container.services, tenant.owner, scopes)).token;
});
afterEach(() => {
  models.requests.length = 0;
  models.reply({ text: 'Hello.' });
});

async function send(method: string, path: string, body?: unknown, token = tokens[acme]) {
  const response = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body, text };
}

async function expectOk(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await send(method, path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}

const addKey = (more: object = {}) =>
  expectOk('POST', '/v1/llm-provider-keys', {
    provider: 'openai',
    api_key: KEY,
    base_url: `${models.url}/v1`,
    ...more,
  });

/** Publishes and starts a workflow with one LLM step. Returns the ids and the path of the run. */
async function run(step: object, input: object = {}) {
  const graph = { steps: [{ id: 'ask', type: 'llm_call', model: 'openai/tiny', prompt: 'Hi.', ...step }] };
  const { id } = await expectOk('POST', '/v1/workflows', { name: 'Asks', graph });
  await expectOk('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' });
  const { run_id } = await expectOk('POST', `/v1/workflows/${id}/command`, {
    command: 'start',
    params: { trigger_payload: input },
  });
  return { id, runId: String(run_id), path: `/v1/workflows/${id}/runs/${run_id}` };
}

async function waitForEnd(path: string): Promise<Body> {
  await expect.poll(() => expectOk('GET', `${path}/summary`)).toMatchObject({ run_complete: true });
  return expectOk('GET', `${path}/summary`);
}

type Event = { event_type: string; data: Record<string, unknown> };
const eventsOf = async (path: string) => (await expectOk('GET', `${path}/events`)).events as Event[];

/** Returns everything that was stored about this run and workspace, except the secrets themselves. */
async function readEverythingStored(): Promise<string> {
  const { rows } = await service.db.pool.query(
    `SELECT (SELECT json_agg(e) FROM run_events e)::text || coalesce((SELECT json_agg(p) FROM run_payloads p)::text, '')
       || (SELECT json_agg(r) FROM runs r)::text || (SELECT json_agg(c) FROM connections c)::text AS text`,
  );
  return rows[0].text;
}

test('the console and the platform know the same providers', () => {
  expect(providerNames).toEqual(modelProviders);
});

describe('a run', () => {
  test('calls the model, streams into its log, and has text, object and usage as result', async () => {
    await addKey();
    models.expectKey(KEY);
    models.reply({ text: ['{"mood":', '"good"}'], usage: { input: 40, output: 9 }, model: 'tiny-7' });
    const schema = { type: 'object', properties: { mood: { enum: ['good', 'bad'] } }, required: ['mood'] };
    const { path, runId } = await run(
      { prompt: 'How is {{input.who}}?', system: 'Be brief.', response_schema: schema },
      { who: 'Ada' },
    );
    expect(await waitForEnd(path)).toMatchObject({ status: 'completed' });
    const context = await expectOk('GET', `${path}/context`);
    expect(context).toMatchObject({
      steps: {
        ask: {
          result: {
            text: '{"mood":"good"}',
            object: { mood: 'good' },
            model: 'openai/tiny-7',
            finish_reason: 'stop',
            usage: { input_tokens: 40, output_tokens: 9 },
          },
        },
      },
    });
    const [request] = models.requests;
    expect(request?.headers['idempotency-key']).toBe(`${runId}:ask`);
    expect(JSON.stringify(request?.body)).toContain('How is Ada?');
    const events = await eventsOf(path);
    const lines = events.filter(each => each.event_type === 'step_log').flatMap(each => each.data.lines);
    expect(lines).toEqual(['{"mood":"good"}']);
    expect(await readEverythingStored()).not.toContain(KEY);
  });

  test('the key is stored nowhere, even if the provider repeats it', async () => {
    await addKey();
    models.reply({ status: 403, message: `The key ${KEY} is not allowed here.` });
    models.expectKey(KEY);
    const refused = await run({});
    expect(await waitForEnd(refused.path)).toMatchObject({ status: 'failed', error: { code: 'model_unauthorized' } });
    // Long enough to be logged in several parts while it streams.
    models.reply({ text: [`You sent ${KEY}. `, 'word '.repeat(2_000), 'The end.'] });
    const echoed = await run({});
    expect(await waitForEnd(echoed.path)).toMatchObject({ status: 'completed' });
    expect(await readEverythingStored()).not.toContain(KEY);
    const logged = (await eventsOf(echoed.path)).filter(each => each.event_type === 'step_log');
    expect(logged.length).toBeGreaterThan(1);
    expect(JSON.stringify(logged)).toContain('You sent ');
  });

  test('an answer that does not match is requested again, as often as the step allows', async () => {
    await addKey();
    let requestCount = 0;
    models.reply(() => ({ text: ++requestCount === 1 ? '{}' : '{"a":1}' }));
    const { path } = await run({
      retry_count: 1,
      retry_delay_s: 0,
      response_schema: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
    });
    expect(await waitForEnd(path)).toMatchObject({ status: 'completed' });
    expect(requestCount).toBe(2);
    const retrying = (await eventsOf(path)).find(each => each.event_type === 'step_retrying');
    expect(retrying?.data.error).toMatchObject({
      code: 'response_schema_mismatch',
      message: expect.stringContaining('object'),
    });
  });

  test('reasoning before the JSON is kept separately, and the schema may have references', async () => {
    await addKey();
    models.reply({ text: ['<think>Hm', '.</think>\n{"mood":', '"good"}'] });
    const { path } = await run({
      response_schema: {
        type: 'object',
        properties: { mood: { $ref: '#/$defs/M' } },
        $defs: { M: { enum: ['good'] } },
      },
    });
    expect(await waitForEnd(path)).toMatchObject({ status: 'completed' });
    expect(await expectOk('GET', `${path}/context`)).toMatchObject({
      steps: { ask: { result: { text: '{"mood":"good"}', object: { mood: 'good' }, reasoning: 'Hm.' } } },
    });
  });

  test('a model that declines is not called again, and its reason is kept', async () => {
    await addKey();
    models.reply({ refusal: 'I cannot help with that.' });
    const { path } = await run({ retry_count: 3, retry_delay_s: 0 });
    expect(await waitForEnd(path)).toMatchObject({
      status: 'failed',
      error: { code: 'model_refused', message: expect.stringContaining('I cannot help with that.') },
    });
    expect(models.requests).toHaveLength(1);
  });

  test('a permanent error is not retried', async () => {
    await addKey();
    models.reply({ status: 400, message: 'The context is too long.' });
    const { path } = await run({ retry_count: 3, retry_delay_s: 0 });
    expect(await waitForEnd(path)).toMatchObject({
      status: 'failed',
      error: { code: 'model_request_invalid', message: expect.stringContaining('The context is too long.') },
    });
    expect(models.requests).toHaveLength(1);
  });

  test('that is stopped closes its connection to the provider', async () => {
    await addKey();
    let arrived: () => void = () => undefined;
    const begun = new Promise<void>(resolve => {
      arrived = resolve;
    });
    models.reply({
      text: (async function* () {
        yield 'Once upon ';
        arrived();
        await models.requests[0]?.left;
        yield 'a time.';
      })(),
    });
    const { id, runId, path } = await run({});
    await begun;
    await expectOk('POST', `/v1/workflows/${id}/command`, { command: 'stop', params: { run_id: runId } });
    await models.requests[0]?.left;
    expect(await waitForEnd(path)).toMatchObject({ status: 'stopped' });
    expect((await eventsOf(path)).map(each => each.event_type)).toContain('step_cancelled');
  });

  test("another workspace's key is never used", async () => {
    await addKey();
    const { id } = await expectOk('POST', '/v1/workflows', {
      name: 'Asks',
      graph: { steps: [{ id: 'ask', type: 'llm_call', model: '{{input.model}}', prompt: 'Hi.' }] },
    });
    await expectOk('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' });
    const key = (await expectOk('GET', '/v1/llm-provider-keys')).keys as Body[];
    await expectOk('DELETE', `/v1/llm-provider-keys/${key[0]?.id}`);
    const ownWorkspace = acme;
    acme = `rival-${turn}`;
    const rival = await createTestTenant(service.container.services, { slug: acme });
    tokens[acme] = (await createTestPat(service.container.services, rival.owner, scopes)).token;
    await addKey();
    acme = ownWorkspace;
    const { run_id } = await expectOk('POST', `/v1/workflows/${id}/command`, {
      command: 'start',
      params: { model: 'openai/tiny' },
    });
    expect(await waitForEnd(`/v1/workflows/${id}/runs/${run_id}`)).toMatchObject({
      status: 'failed',
      error: { code: 'model_key_missing', message: expect.stringContaining('Settings, Model keys') },
    });
    expect(models.requests).toEqual([]);
  });
});

describe('at publish', () => {
  const problemsOf = async (...steps: object[]) => {
    const graph = {
      steps: steps.map((step, at) => ({ id: `ask_${at}`, type: 'llm_call', prompt: 'Hi.', ...step })),
    };
    const { id } = await expectOk('POST', '/v1/workflows', { name: 'Asks', graph });
    const { status, body } = await send('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' });
    return { status, details: body.details as { code: string; message: string; path: string }[] | undefined };
  };

  test('every problem with a model is named', async () => {
    await addKey({ provider: 'openai_compatible', models: ['tiny', 'org/large'] });
    const { status, details } = await problemsOf(
      { model: 'gpt-5' },
      { model: 'acme/gpt-5' },
      { model: 'mistral/mistral-small-latest' },
      { model: 'openai_compatible/huge' },
      { model: 'openai_compatible/org/large' },
      { model: 'openai_compatible/tiny', response_schema: { properties: { a: { type: 'banana' } } } },
      { model: 'openai/../../admin' },
    );
    expect(status).toBe(422);
    expect(details?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      'model model_malformed',
      'model unknown_model_provider',
      'model model_key_missing',
      'model unknown_model',
      'response_schema.properties.a.type response_schema_invalid',
      'model model_malformed',
    ]);
    expect(details?.[2]?.message).toContain('Mistral AI in this workspace: add one under Settings, Model keys');
    expect(details?.[3]?.message).toContain('tiny, org/large');
  });

  test('a model that is a template is not checked before the run', async () => {
    expect(await problemsOf({ model: '{{input.model}}' })).toMatchObject({ status: 201 });
  });
});

describe('keys', () => {
  test('are created, listed, replaced and deleted, and never shown', async () => {
    const made = await send('POST', '/v1/llm-provider-keys', { provider: 'anthropic', api_key: KEY });
    expect(made).toMatchObject({
      status: 201,
      body: { provider: 'anthropic', name: 'Anthropic', base_url: null, models: [], status: 'active' },
    });
    const { id } = made.body;
    const list = await send('GET', '/v1/llm-provider-keys');
    expect(list.body.keys).toMatchObject([{ id, provider: 'anthropic' }]);
    const patched = await send('PATCH', `/v1/llm-provider-keys/${id}`, { name: 'Team', api_key: `${KEY}x` });
    expect(patched).toMatchObject({ status: 200, body: { name: 'Team' } });
    for (const { text } of [made, list, patched]) expect(text).not.toContain(KEY);
    // Model keys are stored as connections.
    expect((await expectOk('GET', '/v1/connections?service=llm')).connections).toMatchObject([
      { id, service: 'llm', credential_keys: ['api_key'] },
    ]);
    expect((await send('DELETE', `/v1/llm-provider-keys/${id}`)).status).toBe(204);
    expect((await expectOk('GET', '/v1/llm-provider-keys')).keys).toEqual([]);
  });

  test('422 for unusable keys', async () => {
    const refused = async (body: object, path: string) => {
      const answer = await send('POST', '/v1/llm-provider-keys', body);
      expect(answer, answer.text).toMatchObject({ status: 422, body: { details: [{ path }] } });
    };
    await refused({ provider: 'openai' }, 'api_key');
    await refused({ provider: 'openai_compatible' }, 'base_url');
    await refused({ provider: 'openai', api_key: 'k', models: ['a'] }, 'models');
    await refused({ provider: 'openai_compatible', base_url: 'file:///etc/passwd' }, 'base_url');
    await refused({ provider: 'openai_compatible', base_url: 'http://169.254.169.254/v1' }, 'base_url');
    await refused({ provider: 'openai_compatible', base_url: `${models.url}/v1`, models: ['a b'] }, 'models[0]');
    await refused({ provider: 'openai_compatible', base_url: `${models.url}/v1`, nonsense: 1 }, 'nonsense');
    const { id } = await addKey();
    const moved = await send('PATCH', `/v1/llm-provider-keys/${id}`, { base_url: 'http://10.0.0.1/v1' });
    expect(moved).toMatchObject({ status: 422, body: { details: [{ path: 'base_url', code: 'egress_refused' }] } });
  });

  test.each(['ENOTFOUND', 'EAI_AGAIN', 'EINVAL', 'ETIMEDOUT'])(
    'a host that does not resolve (%s) is accepted',
    async code => {
      const { id } = await addKey();
      const base_url = 'https://not-yet.example.com/v1';
      const cause = Object.assign(new Error(`getaddrinfo ${code} not-yet.example.com`), { code });
      const check = vi.spyOn(service.container.services.egress, 'check');
      check.mockRejectedValue(new TypeError('fetch failed', { cause }));
      try {
        expect(await addKey({ base_url })).toMatchObject({ base_url, status: 'active' });
        expect(await expectOk('PATCH', `/v1/llm-provider-keys/${id}`, { base_url, api_key: KEY })).toMatchObject({
          base_url,
        });
      } finally {
        check.mockRestore();
      }
    },
  );

  test('another base URL needs the key again, unless it is of the same origin or there is no key', async () => {
    const { id, origins } = await addKey();
    expect(origins).toEqual([models.url]);
    const path = `/v1/llm-provider-keys/${id}`;
    for (const base_url of ['http://127.0.0.1:9/v1', models.url.replace('127.0.0.1', 'localhost'), null]) {
      const refused = await send('PATCH', path, { base_url });
      expect([refused.status, refused.body]).toMatchObject([
        422,
        { code: 'secret_required', details: [{ path: 'api_key', code: 'secret_required' }] },
      ]);
    }
    const elsewhere = { config: { base_url: 'http://127.0.0.1:9/v1' } };
    expect((await send('PATCH', `/v1/connections/${id}`, elsewhere)).body).toMatchObject({ code: 'secret_required' });
    expect(await expectOk('PATCH', path, { base_url: `${models.url}/v2` })).toMatchObject({ origins: [models.url] });
    const moved = { base_url: 'http://127.0.0.1:9/v1', api_key: KEY };
    expect(await expectOk('PATCH', path, moved)).toMatchObject({ origins: ['http://127.0.0.1:9'] });
    const keyless = await addKey({ provider: 'openai_compatible', api_key: undefined });
    expect(
      await expectOk('PATCH', `/v1/llm-provider-keys/${keyless.id}`, { base_url: 'http://127.0.0.1:9/v1' }),
    ).toMatchObject({
      origins: ['http://127.0.0.1:9'],
    });
  });

  test('do not include other connections, which are 404', async () => {
    const { id } = await expectOk('POST', '/v1/connections', {
      display_name: 'Mail',
      provider: 'custom',
      service: 'api_key',
      credentials: { api_key: 'k' },
    });
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      expect((await send(method, `/v1/llm-provider-keys/${id}${path}`)).status, method).toBe(404);
    }
    expect((await expectOk('GET', '/v1/llm-provider-keys')).keys).toEqual([]);
  });

  test('that workflows need are deleted only when forced', async () => {
    const { id } = await addKey();
    await waitForEnd((await run({})).path);
    expect(await send('DELETE', `/v1/llm-provider-keys/${id}`)).toMatchObject({
      status: 409,
      body: { code: 'connection_in_use', details: [{ message: 'workflow "Asks"' }] },
    });
    expect((await send('DELETE', `/v1/llm-provider-keys/${id}?force=true`)).status).toBe(204);
  });

  test('are tested without calling a model', async () => {
    const { id } = await addKey();
    models.expectKey(KEY);
    expect(await expectOk('POST', `/v1/llm-provider-keys/${id}/test`)).toEqual({
      ok: true,
      code: null,
      message: 'OpenAI accepts the key and lists 2 models.',
      models: ['tiny', 'large'],
    });
    models.expectKey('another');
    expect(await expectOk('POST', `/v1/llm-provider-keys/${id}/test`)).toMatchObject({
      ok: false,
      code: 'model_unauthorized',
      models: [],
    });
    models.expectKey(KEY);
    const local = await addKey({ provider: 'openai_compatible', models: ['tiny', 'gone'] });
    expect(await expectOk('POST', `/v1/llm-provider-keys/${local.id}/test`)).toMatchObject({
      ok: true,
      message: expect.stringContaining('does not list gone'),
    });
  });
});

describe('catalog and resolve', () => {
  test('list the models and which of them are configured', async () => {
    const before = (await expectOk('GET', '/v1/llm-provider-keys/catalog')).providers as Body[];
    expect(before.map(({ provider, configured }) => [provider, configured])).toEqual(
      modelProviders.map(provider => [provider, false]),
    );
    await addKey();
    await addKey({ provider: 'openai_compatible', api_key: undefined, models: ['llama-3', 'org/qwen'] });
    const after = (await expectOk('GET', '/v1/llm-provider-keys/catalog')).providers as (Body & { models: Body[] })[];
    expect(after.filter(each => each.configured).map(each => each.provider)).toEqual(['openai', 'openai_compatible']);
    expect(after[0]?.models.map(each => each.id)).toContain('openai/gpt-5');
    expect(after.at(-1)?.models.map(each => each.id)).toEqual([
      'openai_compatible/llama-3',
      'openai_compatible/org/qwen',
    ]);
  });

  test('resolve returns the key that a model would use', async () => {
    const resolve = (model: string) => send('POST', '/v1/llm/resolve', { model });
    expect(await resolve('openai/gpt-5')).toMatchObject({
      status: 200,
      body: { provider: 'openai', model: 'gpt-5', connection_id: null, available: false, reason: expect.any(String) },
    });
    expect((await resolve('gpt-5')).status).toBe(422);
    const older = await addKey();
    const newer = await addKey();
    expect(older.id).not.toBe(newer.id);
    expect((await resolve('openai/any/model')).body).toEqual({
      provider: 'openai',
      model: 'any/model',
      connection_id: newer.id,
      base_url: `${models.url}/v1`,
      available: true,
    });
    const listing = await addKey({ provider: 'openai_compatible', models: ['llama'] });
    const open = await addKey({ provider: 'openai_compatible' });
    expect((await resolve('openai_compatible/llama')).body.connection_id).toBe(listing.id);
    expect((await resolve('openai_compatible/qwen')).body.connection_id).toBe(open.id);
  });

  type Listed = Body & { context_window?: number; supports: Record<string, boolean> };
  const listModels = async () =>
    ((await expectOk('GET', '/v1/llm-provider-keys/catalog')).providers as { models: Listed[] }[]).flatMap(
      each => each.models,
    );

  test('the catalog says which models call tools, and which make embeddings', async () => {
    await addKey({ provider: 'openai_compatible', models: ['llama-3', 'nomic-embed-text'] });
    const byId = new Map((await listModels()).map(model => [model.id, model.supports]));
    for (const id of ['openai/gpt-5', 'openai_compatible/llama-3']) {
      expect(byId.get(id), id).toMatchObject({ tools: true, embeddings: false, structured_output: true });
    }
    for (const id of ['openai/text-embedding-3-small', 'openai_compatible/nomic-embed-text']) {
      expect(byId.get(id), id).toEqual({
        tools: false,
        embeddings: true,
        structured_output: false,
        temperature: false,
      });
    }
  });

  test('the context window of a custom server is set with its key', async () => {
    const add = (context_window: number, more = {}) => {
      const key = { provider: 'openai_compatible', base_url: `${models.url}/v1`, models: ['llama'] };
      return send('POST', '/v1/llm-provider-keys', { ...key, context_window, ...more });
    };
    for (const wrong of [1_023, 100_000_001, 2_048.5]) expect((await add(wrong)).status, String(wrong)).toBe(422);
    expect((await add(1_024)).body).toMatchObject({ context_window: 1_024 });
    const { id } = (await add(100_000_000)).body;
    const contextWindow = async () =>
      (await listModels()).find(model => model.id === 'openai_compatible/llama')?.context_window;
    expect(await contextWindow(), 'of the newest key').toBe(100_000_000);
    // Other changes keep it.
    await expectOk('PATCH', `/v1/llm-provider-keys/${id}`, { models: ['llama', 'qwen'] });
    expect(await contextWindow()).toBe(100_000_000);
    expect(await expectOk('PATCH', `/v1/llm-provider-keys/${id}`, { context_window: null })).toMatchObject({
      context_window: null,
    });
    expect(await contextWindow()).toBeUndefined();
    const refused = await add(8_192, { provider: 'openai', api_key: KEY, models: [] });
    expect(refused).toMatchObject({ status: 422, body: { details: [{ path: 'context_window' }] } });
  });

  test.each([
    ['openai/gpt-5', 'chat', true],
    ['openai/gpt-5', 'tools', true],
    ['openai/gpt-5', 'embedding', false],
    ['openai/text-embedding-3-small', 'embedding', true],
    ['openai/text-embedding-3-small', 'chat', false],
    ['openai/text-embedding-3-small', 'tools', false],
    ['openai/text-embedding-3-small', undefined, true],
    ['anthropic/claude-haiku-5-5', 'embedding', false],
    ['openai_compatible/llama', 'embedding', true],
    ['openai_compatible/nomic-embed-text', 'tools', false],
  ])('%s for %s is available: %s', async (model, purpose, available) => {
    const [provider] = model.split('/');
    await addKey({ provider });
    const resolved = await expectOk('POST', '/v1/llm/resolve', { model, ...(purpose && { purpose }) });
    expect(resolved).toMatchObject({ available, connection_id: expect.any(String) });
    expect('reason' in resolved).toBe(!available);
  });

  test('an unknown purpose is 422', async () => {
    expect((await send('POST', '/v1/llm/resolve', { model: 'openai/gpt-5', purpose: 'fun' })).status).toBe(422);
  });

  test('a key created as a connection with other settings serves no model', async () => {
    await expectOk('POST', '/v1/connections', {
      display_name: 'Odd',
      provider: 'openai',
      service: 'llm',
      credentials: { api_key: 'k' },
      config: { base_url: 5 },
    });
    expect((await send('POST', '/v1/llm/resolve', { model: 'openai/x' })).body.available).toBe(false);
    expect((await expectOk('GET', '/v1/llm-provider-keys')).keys).toMatchObject([
      { status: 'error', last_error: expect.stringContaining('settings') },
    ]);
  });
});

test('without the operator’s permission no local server is called, and the message says so', async () => {
  const strict = await startTestContainer();
  try {
    const tenant = await createTestTenant(strict.container.services, { slug: 'strict' });
    const { token } = await createTestPat(strict.container.services, tenant.owner, scopes);
    const post = async (path: string, body: unknown) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const response = await fetch(strict.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    };
    const base_url = `${models.url}/v1`;
    expect(await post('/v1/llm-provider-keys', { provider: 'openai_compatible', base_url })).toMatchObject({
      status: 422,
      body: {
        details: [{ path: 'base_url', message: expect.stringContaining('BATON_ALLOW_PRIVATE_NETWORK') }],
      },
    });
    // A key that was created otherwise is refused when it is used.
    const connection = { display_name: 'Local', provider: 'openai_compatible', service: 'llm' };
    const { body: made } = await post('/v1/connections', {
      ...connection,
      credentials: { api_key: KEY },
      config: { base_url },
    });
    expect(await post(`/v1/llm-provider-keys/${made.id}/test`, {})).toMatchObject({
      body: { ok: false, code: 'egress_refused', message: expect.stringContaining('BATON_ALLOW_PRIVATE_NETWORK') },
    });
    expect(models.requests).toEqual([]);
  } finally {
    await strict.close();
  }
});
