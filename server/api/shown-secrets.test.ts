import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { webhookOperations } from '../domains/webhooks/operations.ts';
import { workflowOperations } from '../domains/workflows/operations.ts';
import { operation } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import type { Scope } from '../orchestrator/ports/authority.ts';
import { createLogger } from '../platform/logger.ts';
import { sessionCookieOf, startTestApi, type TestApi } from '../testing/api.ts';
import { createTestPat, createTestServices, createTestTenant, type TestTenant } from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { sign } from '../testing/webhooks.ts';
import { chain } from '../testing/workflows.ts';

/** The secret that the careless parts of this service quote in their log lines. */
let quoted = '';
const lines: string[] = [];
const logger = createLogger('debug', { destination: { write: line => void lines.push(line) } });
/** Logs each authenticated request. */
const rateLimiter: Services['rateLimiter'] = {
  async take(kind) {
    if (kind === 'principal') logger.warn({ url: `https://example.com/?t=${quoted}` }, `counted ${quoted}`);
    return { limit: 0, remaining: 0, resetSeconds: 0, allowed: true };
  },
  refund: async () => undefined,
};
const failing = operation({
  name: 'careless_error',
  method: 'POST',
  path: '/v1/careless-error',
  status: 200,
  tag: 'Test',
  summary: 'Fails and quotes a secret',
  access: 'project_viewer',
  scope: 'workflow:read',
  input: z.strictObject({}),
  output: z.strictObject({}),
  run: async () => {
    throw new Error(`a library quotes ${quoted}`);
  },
});
const scopes: Scope[] = ['workflow:read', 'workflow:write', 'workflow:run', 'webhook:manage'];

let db: TestDatabase;
let api: TestApi;
let services: Services;
let tenant: TestTenant;
let token: string;

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { logger, rateLimiter });
  tenant = await createTestTenant(services, { slug: 'acme' });
  ({ token } = await createTestPat(services, tenant.owner, scopes));
  api = await startTestApi(services, [failing, ...webhookOperations, ...workflowOperations]);
});
afterAll(async () => {
  await api.close();
  await db.close();
});

const post = async (path: string, headers: Record<string, string>, body = '{}') => {
  const sent = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers };
  const response = await fetch(api.url + path, { method: 'POST', headers: sent, body });
  return (await response.json()) as Record<string, string>;
};

/** Asserts that lines are logged, and that none of them holds the secret. */
async function expectRedacted(secret: string, work: () => unknown): Promise<void> {
  lines.length = 0;
  quoted = secret;
  await work();
  await expect.poll(() => lines.length).toBeGreaterThan(0);
  expect(lines.join('')).toContain('[redacted]');
  expect(lines.join('')).not.toContain(secret);
}

test.each(['/v1/careless-error', '/api/trpc/careless_error', '/mcp'])(
  'the token of a request to %s is not logged',
  async path => {
    await expectRedacted(token, () => post(path, { Authorization: `Bearer ${token}` }));
  },
);

test('the cookie of a session is not logged', async () => {
  const cookie = await sessionCookieOf(tenant.owner);
  const session = cookie.slice(cookie.indexOf('=') + 1);
  await expectRedacted(session, () => post('/v1/careless-error', { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' }));
});

test('the token of a stream is not logged, wherever it is sent', async () => {
  const url = `${api.url.replace('http', 'ws')}/v1/workflows/none/stream`;
  for (const open of [
    () => new WebSocket(url, ['bearer', token]),
    () => new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } }),
  ]) {
    await expectRedacted(token, () => new Promise(resolve => open().on('error', resolve)));
  }
});

test('the token and the signing secret of a delivery are not logged', async () => {
  const Authorization = `Bearer ${token}`;
  const { id } = await post('/v1/workflows', { Authorization }, JSON.stringify({ name: 'Orders', graph: chain('a') }));
  const made = await post('/v1/inbound-webhooks', { Authorization }, JSON.stringify({ workflow_id: id, name: 'Shop' }));
  const { signing_secret: secret = '', ingress_path: path = '' } = made;
  for (const shown of [secret, token]) {
    await expectRedacted(shown, () => post(path, { Authorization, 'X-Service-Signature': sign(secret, '{}') }));
  }
});
