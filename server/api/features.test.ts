import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { featuresOf } from '../operation/features.ts';
import type { AnyOperation } from '../operation/operation.ts';
import { type Scope, scopes } from '../orchestrator/ports/authority.ts';
import { newId } from '../platform/ids.ts';
import { startTestApi, type TestApi } from '../testing/api.ts';
import { createTestPat, createTestServices, createTestTenant, testConfig } from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { operations } from './operations.ts';

/** A deployment without any configured feature, and with billing switched off. */
let db: TestDatabase;
let api: TestApi;
const tokens: Partial<Record<'full' | 'narrow', string>> = {};

beforeAll(async () => {
  db = await createTestDatabase();
  const services = createTestServices(db, {
    config: testConfig({ BATON_BILLING: 'off', BATON_MEMORY: 'off', BATON_ENABLE_AGENTS: 'false' }),
  });
  expect([...featuresOf(services.config)]).toEqual([]);
  api = await startTestApi(services, operations);
  const tenant = await createTestTenant(services, { slug: 'acme' });
  const tokenOf = async (given: readonly Scope[]) => (await createTestPat(services, tenant.owner, given)).token;
  tokens.full = await tokenOf(scopes);
  tokens.narrow = await tokenOf(['workflow:read']);
});
afterAll(async () => {
  await api.close();
  await db.close();
});

const featured = operations.filter((each: AnyOperation) => each.feature !== undefined) as AnyOperation[];

test('all operations of suite and messaging except their configuration belong to features', () => {
  const connect = operations.filter(({ path }) => /^\/v1\/connections\/(suite|messaging)\//.test(path));
  expect(connect.filter(({ path }) => !path.endsWith('/config')).map(({ name }) => name)).toEqual(
    featured.filter(({ feature }) => feature === 'suite' || feature?.startsWith('messaging')).map(({ name }) => name),
  );
  const oauth = { issuer: undefined, endpoints: undefined, clientId: '', clientSecret: undefined, scopes: [] };
  const signup = { ...oauth, authorizationParams: {} };
  const suite = { ...signup, services: new Map() };
  const { billing, memory } = testConfig({ BATON_BILLING: 'off', BATON_MEMORY: 'off' });
  expect([...featuresOf({ suite, messaging: null, mail: null, billing, memory, agents: false })]).toEqual(['suite']);
  const messaging = { apiUrl: '', oauth: null };
  expect([...featuresOf({ suite: null, messaging, mail: null, billing, memory, agents: false })]).toEqual([
    'messaging',
  ]);
  const all = featuresOf({
    suite,
    messaging: { apiUrl: '', oauth: signup },
    mail: { smtpUrl: 'smtp://localhost', from: 'a@example.com' },
    billing: { ...billing, mode: 'metered' },
    memory: { on: true },
    agents: true,
  });
  expect([...all]).toEqual(['suite', 'messaging', 'messaging_signup', 'mail', 'billing', 'memory', 'agents']);
});

test('all operations of billing belong to a feature, which only `off` disables', () => {
  const billing = operations.filter(({ path }) => /^\/v1\/(billing\/|config\/payment$)/.test(path));
  expect(billing.length).toBeGreaterThan(20);
  expect(billing.map(({ name }) => name)).toEqual(
    featured.filter(({ feature }) => feature === 'billing').map(({ name }) => name),
  );
  for (const mode of ['metered', 'on'])
    expect([
      ...featuresOf(testConfig({ BATON_BILLING: mode, BATON_MEMORY: 'off', BATON_ENABLE_AGENTS: 'false' })),
    ]).toEqual(['billing']);
});

test('all operations of agents belong to a feature, which is on by default only with the embedded database', () => {
  const agents = operations.filter(({ path }) =>
    /^\/v1\/(agents|autopilot\/(chat|stream)|chat)(\/|$)|\/answer$/.test(path),
  );
  expect(agents.length).toBeGreaterThan(7);
  expect(agents.map(({ name }) => name)).toEqual(
    featured.filter(({ feature }) => feature === 'agents').map(({ name }) => name),
  );
  const hasAgents = (env: Record<string, string>) => featuresOf(testConfig(env)).has('agents');
  const external = { DATABASE_URL: 'postgres://localhost/baton' };
  expect([hasAgents({}), hasAgents({ BATON_ENABLE_AGENTS: 'false' })]).toEqual([true, false]);
  expect([hasAgents(external), hasAgents({ ...external, BATON_ENABLE_AGENTS: 'true' })]).toEqual([false, true]);
});

test('all operations of memory belong to a feature, whose error says that it is disabled', () => {
  const memory = operations.filter(({ path }) => path.startsWith('/v1/memory/'));
  expect(memory.length).toBeGreaterThan(10);
  expect(memory.map(({ name }) => name)).toEqual(
    featured.filter(({ feature }) => feature === 'memory').map(({ name }) => name),
  );
});

describe('a feature that is not configured is 404 for every caller and request', () => {
  const bodies: [string, string, string][] = [
    ['an empty object', '{}', 'application/json'],
    ['a body that is no JSON', '{', 'application/json'],
    ['another type', 'code=c', 'application/x-www-form-urlencoded'],
    ['an unknown field', '{"nonsense":1}', 'application/json'],
  ];

  const request_id = expect.any(String);
  const error = 'Memory is not configured on this deployment.';
  const memoryIsOff = { error, code: 'memory_not_configured', request_id };

  test.each(featured.map(each => [each.name, each] as const))('%s', async (name, { method, path, feature }) => {
    const url = api.url + path.replace(/\{\w+\}/g, newId());
    const send = (token: string | undefined, body: string | null, type: string) => {
      const headers = { 'Content-Type': type, ...(token && { Authorization: `Bearer ${token}` }) };
      return fetch(method === 'GET' ? `${url}?nonsense=1` : url, { method, headers, body });
    };
    for (const token of [tokens.full, tokens.narrow, undefined]) {
      for (const [kind, body, type] of bodies) {
        const response = await send(token, method === 'GET' ? null : body, type);
        expect([response.status, await response.json()], kind).toEqual([
          404,
          feature === 'memory' ? memoryIsOff : { error: 'Route not found.', code: 'not_found', request_id },
        ]);
      }
    }
    const trpc = await fetch(`${api.url}/api/trpc/${name}`, {
      method: method === 'GET' ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${tokens.full}`, 'Content-Type': 'application/json' },
      body: method === 'GET' ? null : '{}',
    });
    expect(trpc.status).toBe(404);
  });
});
