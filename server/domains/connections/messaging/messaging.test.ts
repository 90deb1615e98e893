import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { ManualClock } from '../../../platform/clock.ts';
import { createEgress } from '../../../platform/egress/egress.ts';
import type { AppError } from '../../../platform/errors.ts';
import { createCall } from '../../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant, testConfig } from '../../../testing/identity.ts';
import {
  oauthClientId,
  oauthClientSecret,
  startOauthServer,
  type TestOauthServer,
} from '../../../testing/oauth-server.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { loadCredentials } from '../credentials.ts';
import { connectionOperations } from '../operations.ts';

type Made = { id: string };
const redirectUri = 'http://127.0.0.1:3000/connections/callback';
const token = 'EAAG-messaging-token-8841';
const clock = new ManualClock(Date.now());
const ids = { business_account_id: '100', phone_number_id: '200' };

let db: TestDatabase;
let oauth: TestOauthServer;
let api: Server;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
let call: ReturnType<typeof createCall<typeof connectionOperations>>;
/** The HTTP status that the API answers instead of its data; null: it answers with the data. */
let answer: number | null = null;
let asked: string[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  oauth = await startOauthServer({ redirectUri });
  const known: Record<string, object> = {
    '/v1/100': { name: 'Shop Ltd' },
    '/v1/200': { display_phone_number: '+49 30 1', verified_name: 'The Shop' },
  };
  api = createServer((request, response) => {
    asked.push(String(request.url));
    const authorized = /^Bearer (?!bad)/.test(request.headers.authorization ?? '');
    const found = known[String(request.url)];
    const status = answer ?? (authorized ? (found ? 200 : 404) : 401);
    response.writeHead(status, { 'Content-Type': 'application/json', Location: 'http://169.254.169.254/' });
    // Quotes the token in the error, as some APIs do.
    response.end(JSON.stringify(status === 200 ? found : { error: `no ${request.headers.authorization}` }));
  });
  await new Promise<void>(resolve => api.listen(0, '127.0.0.1', resolve));
  const config = testConfig({
    BATON_MESSAGING_API_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1/`,
    BATON_MESSAGING_AUTHORIZATION_ENDPOINT: `${oauth.issuer}/auth`,
    BATON_MESSAGING_TOKEN_ENDPOINT: `${oauth.issuer}/token`,
    BATON_MESSAGING_CLIENT_ID: oauthClientId,
    BATON_MESSAGING_CLIENT_SECRET: oauthClientSecret,
    BATON_MESSAGING_SCOPES: 'mail.read offline_access',
    BATON_MESSAGING_AUTHORIZATION_PARAMS: 'prompt=consent',
  });
  const egress = createEgress({ allowPrivate: ['127.0.0.1'] });
  services = createTestServices(db, { clock, config, egress });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
  call = createCall(services, connectionOperations);
});
afterEach(() => {
  answer = null;
  asked = [];
});
afterAll(async () => {
  await services.egress.close();
  await oauth.close();
  api.closeAllConnections();
  await new Promise(resolve => api.close(resolve));
  await db.close();
});

const manual = (more: object = {}, who = acme.contributor) =>
  call(who, 'connections_messaging_manual', { display_name: 'Shop', access_token: token, origins, ...ids, ...more });
const origins = ['https://tools.example.com'];
const load = ({ id }: Made) => {
  const { tenantId, projectId } = acme;
  return loadCredentials(services, { tenantId, projectId, connectionId: id }, 'https://tools.example.com/mcp');
};

describe('by hand', () => {
  it('tries the credentials, then saves them', async () => {
    const made = (await manual({ app_secret: 'app' })) as Made;
    expect(asked).toEqual(['/v1/100', '/v1/200']);
    expect(made).toMatchObject({
      name: 'Shop',
      provider: 'messaging',
      service: 'business_account',
      credential_keys: ['access_token', 'app_secret'],
      config: ids,
      account: { ...ids, business_name: 'Shop Ltd', display_phone_number: '+49 30 1', verified_name: 'The Shop' },
    });
    expect(JSON.stringify(made)).not.toContain(token);
    expect((await load(made))?.values).toEqual({ access_token: token, app_secret: 'app' });
  });

  it('saves nothing that the API refuses, and does not quote its answer', async () => {
    const before = await db.prisma.secret.count();
    const refused = { status: 422, code: 'credentials_rejected' };
    const cases = [
      [{ access_token: `bad-${token}` }, 'access_token'],
      [{ business_account_id: '101' }, 'business_account_id'],
      [{ phone_number_id: '201' }, 'phone_number_id'],
    ] as const;
    for (const [more, path] of cases) {
      const error = (await manual(more).catch((thrown: AppError) => thrown)) as AppError;
      expect(error).toMatchObject(refused);
      expect(error.details?.map(detail => detail.path)).toEqual([path]);
      expect(inspect(error)).not.toContain(token);
    }
    for (const status of [500, 429, 302]) {
      answer = status;
      const error = await manual().catch((thrown: AppError) => thrown);
      expect(error).toMatchObject({ status: 503, code: 'messaging_unavailable' });
      expect(inspect(error)).not.toContain(token);
    }
    const bad = [{ access_token: 'two\nlines' }, { phone_number_id: '../1' }, { business_account_id: '' }, { more: 1 }];
    for (const more of bad) await expect(manual(more)).rejects.toMatchObject({ status: 422 });
    expect(await db.prisma.secret.count()).toBe(before);
  });

  it('replaces them, for a connection of this workspace', async () => {
    const made = (await manual({ app_secret: 'app' })) as Made;
    const again = { display_name: 'Ignored', access_token: 'fresh', connection_id: made.id };
    expect(await manual(again)).toMatchObject({ id: made.id, name: 'Shop', credential_keys: ['access_token'] });
    expect((await load(made))?.values).toEqual({ access_token: 'fresh' });
    await expect(manual(again, far.contributor)).rejects.toMatchObject({ status: 404 });
    for (const more of [{ credentials: { access_token: 'x' } }, { config: {} }]) {
      const refused = { status: 422, code: 'connection_managed' };
      await expect(call(acme.contributor, 'connections_patch', { id: made.id, ...more })).rejects.toMatchObject(
        refused,
      );
    }
    expect(await call(acme.contributor, 'connections_patch', { id: made.id, display_name: 'X' })).toMatchObject({
      name: 'X',
    });
  });
});

describe('the embedded signup', () => {
  async function signUp(input: object = {}) {
    const begun = await call(acme.contributor, 'connections_messaging_oauth_url', { origins, ...input });
    const {
      code = '',
      state = '',
      iss = '',
    } = await oauth.visit((begun as { authorization_url: string }).authorization_url);
    return { code, state, iss };
  }

  it('exchanges the code, looks the account up with the token, and refreshes it later', async () => {
    const made = (await call(acme.contributor, 'connections_messaging_complete', {
      ...(await signUp()),
      ...ids,
    })) as Made;
    expect(made).toMatchObject({ name: 'The Shop', credential_keys: ['access_token', 'refresh_token'] });
    const first = (await load(made))?.values;
    expect(JSON.stringify(made)).not.toContain(first?.access_token);
    clock.advance(3_600_000);
    expect((await load(made))?.values.access_token).not.toBe(first?.access_token);
  });

  it('saves nothing for an account of another owner, and refuses the state of a suite flow', async () => {
    const before = await db.prisma.connection.count();
    const foreign = { ...(await signUp()), ...ids, business_account_id: '999' };
    await expect(call(acme.contributor, 'connections_messaging_complete', foreign)).rejects.toMatchObject({
      status: 422,
      code: 'credentials_rejected',
    });
    const { code, state } = await signUp();
    await expect(call(acme.contributor, 'connections_suite_complete', { code, state })).rejects.toMatchObject({
      status: 404,
    });
    expect(await db.prisma.connection.count()).toBe(before);
  });
});

it('describes the configuration, and is 404 without one', async () => {
  expect(await call(acme.contributor, 'connections_messaging_config')).toEqual({
    enabled: true,
    embedded_signup: true,
  });
  const { messaging } = services.config;
  const half = { ...services.config, messaging: messaging && { ...messaging, oauth: null } };
  const typed = createCall({ ...services, config: half }, connectionOperations);
  expect(await typed(acme.contributor, 'connections_messaging_config')).toEqual({
    enabled: true,
    embedded_signup: false,
  });
  await expect(typed(acme.contributor, 'connections_messaging_oauth_url')).rejects.toMatchObject({ status: 404 });
  const none = createCall({ ...services, config: { ...services.config, messaging: null } }, connectionOperations);
  expect(await none(acme.contributor, 'connections_messaging_config')).toEqual({
    enabled: false,
    embedded_signup: false,
  });
  const input = { display_name: 'Shop', access_token: token, ...ids };
  await expect(none(acme.contributor, 'connections_messaging_manual', input)).rejects.toMatchObject({ status: 404 });
});
