import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { createLogger } from '../../platform/logger.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant } from '../../testing/identity.ts';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { connectionSecret } from '../connections/document.ts';

/** A key pasted across a wrapped line; no log may contain either part. */
const WRAPPED = 'sk-live-first-3b7a\nsecond-91cf04';
const parts = /first-3b7a|second-91cf04/;

let service: TestContainer;
let models: ModelServer;
let token: string;
let log = '';

beforeAll(async () => {
  models = await startModelServer();
  const destination = {
    write(line: string) {
      log += line;
    },
  };
  const logger = createLogger('trace', { destination });
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' }, { logger });
  const tenant = await createTestTenant(service.container.services, { slug: 'acme' });
  token = (await createTestPat(service.container.services, tenant.owner, scopes)).token;
});
afterAll(async () => {
  await service.close();
  await models.close();
});

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

const keys = '/v1/llm-provider-keys';
const good = { provider: 'openai', api_key: 'sk-good-0123456789' };

/** Returns the events of a run that calls a model of OpenAI. */
async function runWithModel() {
  const graph = { steps: [{ id: 'ask', type: 'llm_call', model: 'openai/tiny', prompt: 'Hi.' }] };
  const { body: workflow } = await send('POST', '/v1/workflows', { name: 'Asks', graph });
  await send('POST', `/v1/workflows/${workflow.id}/versions`, { changelog: 'first' });
  const { body: run } = await send('POST', `/v1/workflows/${workflow.id}/command`, { command: 'start' });
  const path = `/v1/workflows/${workflow.id}/runs/${run.run_id}`;
  await expect.poll(async () => (await send('GET', `${path}/summary`)).body.run_complete).toBe(true);
  return send('GET', `${path}/events`);
}

test.each([
  ['a line break', WRAPPED],
  ['a line break at the end', 'sk-live-first-3b7a\n'],
  ['a carriage return', 'sk-live\rfirst-3b7a'],
  ['a control character', 'sk-live\u0007first-3b7a'],
  ['a tab', 'sk-live\tfirst-3b7a'],
  ['a space at the beginning', ' sk-live-first-3b7a'],
  ['a letter above U+00FF', 'sk-live-ключ-first-3b7a'],
  ['a letter above U+007F', 'sk-live-ü-first-3b7a'],
])('a key with %s is 422 when it is stored, as a model key and as a connection', async (_, api_key) => {
  const { body: made } = await send('POST', keys, { ...good, base_url: `${models.url}/v1` });
  const connection = { display_name: 'K', provider: 'custom', service: 'api_key' };
  const { body: other } = await send('POST', '/v1/connections', {
    ...connection,
    credentials: { token: 'good-value' },
  });
  for (const [method, path, body, field] of [
    ['POST', keys, { ...good, api_key }, 'api_key'],
    ['PATCH', `${keys}/${made.id}`, { api_key }, 'api_key'],
    ['POST', '/v1/connections', { ...connection, credentials: { 'X-Key': api_key } }, 'credentials.X-Key'],
    ['PATCH', `/v1/connections/${other.id}`, { credentials: { token: api_key } }, 'credentials.token'],
  ] as const) {
    const answer = await send(method, path, body);
    expect(answer.status, `${method} ${path}`).toBe(422);
    expect(answer.body.details).toMatchObject([{ path: field, message: expect.stringContaining('printable ASCII') }]);
    expect(answer.text).not.toMatch(parts);
  }
  expect(log).not.toMatch(parts);
});

test('a key that was stored before is neither sent, nor logged, nor shown', async () => {
  const { body: key } = await send('POST', keys, { ...good, base_url: `${models.url}/v1` });
  const { secrets, pool } = service.container.services;
  const { rows } = await pool.query('SELECT rotated_at FROM connections WHERE id = $1', [key.id]);
  const meta = { revision: rows[0].rotated_at.getTime(), set_at: {} };
  await secrets.put('acme', connectionSecret(String(key.id)), JSON.stringify({ api_key: WRAPPED, '@meta': meta }));
  const tried = await send('POST', `${keys}/${key.id}/test`, {});
  expect(tried.body).toMatchObject({ ok: false, code: 'model_key_invalid', models: [] });

  const events = await runWithModel();
  expect(events.text).toContain('model_key_invalid');
  expect(models.requests).toEqual([]);
  for (const text of [tried.text, events.text, log]) expect(text).not.toMatch(parts);
});

test('a key that a library quotes in an error of its own is not logged, by an operation or by a step', async () => {
  const api_key = 'sk-live-first-3b7a-quoted';
  const { body: key } = await send('POST', keys, { ...good, api_key, base_url: `${models.url}/v1` });
  const quoting = vi.spyOn(service.container.services.egress, 'fetch').mockImplementation(async (_, init) => {
    const said = `Headers.append: "${new Headers(init?.headers).get('authorization')}" is odd`;
    throw new RangeError(said, { cause: Object.assign(new Error(said), { header: said.toUpperCase() }) });
  });
  try {
    log = '';
    const tried = await send('POST', `${keys}/${key.id}/test`, {});
    expect([tried.status, tried.body.code]).toEqual([500, 'internal_error']);
    expect(log).toContain('Headers.append: \\"Bearer [redacted]\\" is odd');
    const { text } = await runWithModel();
    expect(text).toContain('step_failed');
    expect(quoting).toHaveBeenCalledTimes(2);
    for (const each of [tried.text, text, log]) expect(each).not.toMatch(/first-3b7a/i);
    expect(log.match(/Headers\.append/gi)?.length).toBeGreaterThan(3);
  } finally {
    quoting.mockRestore();
  }
});

test('a host that does not resolve is reported as unreachable, not as a failure of the database', async () => {
  const base_url = 'http://nowhere.invalid/v1';
  const { body: key } = await send('POST', keys, { provider: 'openai_compatible', base_url, models: ['tiny'] });
  const { status, body } = await send('POST', `${keys}/${key.id}/test`, {});
  expect([status, body]).toMatchObject([200, { ok: false, code: 'model_unavailable' }]);
  expect(String(body.message)).not.toContain('database');
  const server = { name: 'Nowhere', canonical_url: 'http://nowhere.invalid/mcp' };
  const { body: made } = await send('POST', '/v1/mcp/servers', server);
  const discovered = await send('POST', `/v1/mcp/servers/${made.id}/discover`, {});
  expect([discovered.status, discovered.body]).toMatchObject([422, { details: [{ code: 'mcp_unreachable' }] }]);
});
