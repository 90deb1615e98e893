import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError, unavailable } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { DatabaseSecretStore } from '../../platform/secrets/database-secret-store.ts';
import type { SecretStore } from '../../platform/secrets/secret-store.ts';
import { createTestPat, createTestTenant } from '../../testing/identity.ts';
import {
  createTestWebhook,
  sign,
  startWebhookService,
  type TestWebhook,
  tokenOf,
  type WebhookService,
} from '../../testing/webhooks.ts';
import { generatePatToken } from '../identity/pats/token.ts';
import { settleDeliveries } from './delivery-log.ts';
import { ingest } from './ingest.ts';

/**
 * The work of a refusal until its answer: every query and every read of the secret store, in order. The test does not
 * measure time.
 */
let service: WebhookService;
let webhook: TestWebhook;
let work: string[] = [];
let secrets: SecretStore;
let pool: Pool;

beforeAll(async () => {
  service = await startWebhookService();
  pool = countQueries(service.db.pool);
  const store = new DatabaseSecretStore({ pool, clock: service.clock, masterKey: Buffer.alloc(32, 7) }); // as the test services have it
  secrets = Object.assign(Object.create(service.services.secrets), {
    get: (...given: Parameters<SecretStore['get']>) => {
      work.push('secret');
      return store.get(...given);
    },
  });
  webhook = await createTestWebhook(service);
});
afterAll(() => service.close());

function countQueries(real: Pool): Pool {
  return new Proxy(real, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'query') return value.bind(target);
      return (query: string | { name: string }, ...rest: unknown[]) => {
        work.push(typeof query === 'string' ? query.replace(/\s+/g, ' ').slice(0, 40) : query.name);
        return value.call(target, query, ...rest);
      };
    },
  });
}

type Sent = {
  headers?: Record<string, string>;
  id?: string;
  token?: string | undefined;
  signature?: string | undefined;
  timestamp?: string;
};
const body = '{"n":1}';

/** Delivers in this process, to record the work that was done before the answer. */
async function answerTo(sent: Sent): Promise<{ work: string[]; error: unknown }> {
  const headers = new Map<string, string>();
  const {
    id = webhook.id,
    token = service.token,
    signature = sign(webhook.secret, body, sent.timestamp),
    timestamp,
  } = sent;
  if ('token' in sent ? sent.token : token) headers.set('authorization', `Bearer ${token}`);
  if ('signature' in sent ? sent.signature : signature) headers.set('x-service-signature', signature);
  if (timestamp !== undefined) headers.set('x-service-timestamp', timestamp);
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers.set(name, value);
  work = [];
  const error = await ingest(
    {
      services: { ...service.services, pool, secrets },
      requestId: newId(),
      surface: 'rest',
      headers,
      responseHeaders: new Map(),
      raw: {
        body: async () => Buffer.from(body),
        headersWith: () => [],
        countAs: async () => undefined,
        handOver: async () => false,
      },
    },
    { id },
  ).then(
    () => null,
    thrown => thrown,
  );
  const done = [...work];
  await settleDeliveries({ pool });
  return { work: done, error };
}

const patOf = (scopes: Parameters<typeof tokenOf>[2]) => tokenOf(service.services, service.tenant, scopes);
const refusals: [string, () => Promise<Sent>][] = [
  ['an unknown webhook', async () => ({ id: newId() })],
  ['an id that is none', async () => ({ id: '../x' })],
  ['no signature', async () => ({ signature: undefined })],
  ['a malformed signature', async () => ({ signature: 'sha256=zz' })],
  ['a wrong signature', async () => ({ signature: sign('other', body) })],
  ['a wrong signature for an unknown webhook', async () => ({ id: newId(), signature: sign('other', body) })],
  ['a stale timestamp', async () => ({ timestamp: '1000000000' })],
  ['a malformed timestamp', async () => ({ timestamp: 'soon' })],
  ['no token', async () => ({ token: undefined })],
  ['a malformed token', async () => ({ token: 'pat_x' })],
  ['an unknown token', async () => ({ token: generatePatToken() })],
  ['a token without the scope', async () => ({ token: await patOf(['workflow:read']) })],
  [
    'a viewer’s token',
    async () => ({ token: (await createTestPat(service.services, service.tenant.viewer, ['workflow:run'])).token }),
  ],
  [
    'another tenant’s token',
    async () => {
      const { owner } = await createTestTenant(service.services, { slug: 'rival' });
      return { token: (await createTestPat(service.services, owner, ['workflow:run'])).token };
    },
  ],
  [
    'a webhook that is off',
    async () => {
      const off = await createTestWebhook(service);
      await service.call(service.manager, 'PATCH', off.path, { enabled: false });
      return { id: off.id, signature: sign(off.secret, body) };
    },
  ],
  ['everything wrong', async () => ({ id: 'x', signature: undefined, token: undefined })],
];

describe('a refusal has done the same work, whatever is wrong', () => {
  beforeAll(async () => {
    // The first delivery unwraps the tenant's data key, which happens once in the lifetime of a process.
    expect((await answerTo({})).error).toBeNull();
  });

  test.each(refusals)('%s', async (_, prepare) => {
    const answer = await answerTo(await prepare());
    expect(answer.error).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.work).toEqual(['find_webhook_ingress', 'secret', 'SELECT ciphertext AS bytes FROM secrets ']);
  });

  test('and is recorded after the answer', async () => {
    service.clock.advance(60_000); // or the ten rows of this minute are written already
    const { work: before } = await answerTo({ token: undefined });
    expect(before).not.toContain('insert_webhook_deliveries');
    expect(work).toContain('insert_webhook_deliveries');
    await answerTo({ id: newId() });
    expect(work).not.toContain('insert_webhook_deliveries');
  });
});

describe('a refusal of a webhook with a preset has done the same work', () => {
  const rightHeaders = (secret: string) => ({ 'x-hub-signature-256': sign(secret, body) });
  const cases: [string, (secret: string) => Record<string, string>][] = [
    ['without a signature', () => ({})],
    ['with a malformed signature', () => ({ 'x-hub-signature-256': 'sha256=zz' })],
    ['with a wrong signature', () => rightHeaders('other')],
    ['with the right signature, and a dead token', rightHeaders],
  ];
  test.each(cases)('%s', async (_, headersOf) => {
    const automation_bearer = await patOf(['workflow:run']);
    const github = await createTestWebhook(service, { preset: 'github', automation_bearer });
    await service.db.pool.query(
      'UPDATE pats SET revoked_at = $2 WHERE id = (SELECT automation_pat_id FROM webhook_subscriptions WHERE id = $1)',
      [github.id, new Date(service.clock.now())],
    );
    const headers = headersOf(github.secret);
    const answer = await answerTo({ id: github.id, token: undefined, signature: undefined, headers });
    expect(answer.error).toMatchObject({ status: 401 });
    expect(answer.work).toEqual(['find_webhook_ingress', 'secret', 'SELECT ciphertext AS bytes FROM secrets ']);
  });
});

describe('503, for an existing webhook and an unknown one', () => {
  test.each([() => webhook.id, newId])('if the secret store is unavailable', async id => {
    const present = secrets;
    const get = async () => Promise.reject(unavailable('secret_store_unavailable', 'Away.'));
    secrets = Object.assign(Object.create(present), { get });
    const { error } = await answerTo({ id: id() });
    secrets = present;
    expect(error).toMatchObject({ status: 503, code: 'secret_store_unavailable' });
  });

  test.each([() => webhook.id, newId])('if the token cannot be looked up', async id => {
    const present = pool;
    const query = async () => Promise.reject(new Error('connection terminated'));
    pool = Object.assign(Object.create(present), { query }) as Pool;
    const { error } = await answerTo({ id: id() });
    pool = present;
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ status: 503, code: 'token_lookup_unavailable', headers: { 'Retry-After': '2' } });
  });
});
