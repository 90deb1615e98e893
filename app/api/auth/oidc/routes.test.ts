import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { authenticate, readCredential } from '../../../../server/api/authenticate.ts';
import { type ConsoleIdentity, createConsoleIdentity } from '../../../../server/domains/identity/console.ts';
import type { Services } from '../../../../server/operation/services.ts';
import {
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../../../../server/testing/identity.ts';
import {
  type IdentityProvider,
  signOnClientId,
  signOnClientSecret,
  startIdentityProvider,
} from '../../../../server/testing/identity-provider.ts';
import { createTestDatabase, type TestDatabase } from '../../../../server/testing/postgres.ts';
import { finishSignOn, startSignOn } from './routes.ts';

const url = 'https://baton.example.com';
const keys = { masterKey: Buffer.alloc(32, 7), sessionSecret: 'a secret of this test' };
const client = { address: '192.0.2.1' };

let db: TestDatabase;
let acme: TestTenant;
let issuer: IdentityProvider;
let services: Services;
let identity: ConsoleIdentity;

beforeAll(async () => {
  db = await createTestDatabase();
  acme = await createTestTenant(createTestServices(db), { slug: 'acme' });
  issuer = await startIdentityProvider({
    redirectUri: `${url}/api/auth/oidc/callback`,
    signedOutUri: `${url}/sign-in`,
  });
});
beforeEach(() => {
  issuer.person = { sub: 'owner', email: acme.owner.email, email_verified: true };
  services = servicesWith({ BATON_OIDC_ISSUER: issuer.issuer });
  identity = createConsoleIdentity(services, keys, async () => undefined);
});
afterAll(async () => {
  await identity.signOn?.close();
  await issuer.close();
  await db.close();
});

const servicesWith = (env: Record<string, string>) =>
  createTestServices(db, {
    config: testConfig({
      BATON_URL: url,
      BATON_OIDC_CLIENT_ID: signOnClientId,
      BATON_OIDC_CLIENT_SECRET: signOnClientSecret,
      ...env,
    }),
  });

const start = (next: string) => startSignOn(identity, new Request(`${url}/api/auth/oidc/start?next=${next}`));
const flowCookieOf = (answer: Response) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';

/** Signs in like a browser, and returns the answer to the redirect back. */
async function signIn(next = '/runs') {
  const started = await start(encodeURIComponent(next));
  const back = await issuer.visit(started.headers.get('location') ?? '');
  const request = new Request(back, { headers: { cookie: `other=1; ${flowCookieOf(started)}` } });
  return finishSignOn(identity, request, client);
}

test('sets a cookie that no page can read, for this host and ten minutes only', async () => {
  const answer = await start('/runs');
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toContain(`${issuer.issuer}/auth?`);
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-baton\.sign-on=[\w-]+; Path=\/; Max-Age=600; HttpOnly; Secure; SameSite=Lax$/),
  ]);
});

test('starts a session that the API accepts, and removes the cookie of the sign-in', async () => {
  const answer = await signIn();
  expect(answer.headers.get('location')).toBe('/signed-in?next=%2Fruns');
  const [session = '', flow = ''] = answer.headers.getSetCookie();
  expect(session).toMatch(
    /^__Host-next-auth\.session-token=[^;]+; Path=\/; Max-Age=604800; HttpOnly; Secure; SameSite=Lax$/,
  );
  expect(flow).toMatch(/^__Host-baton\.sign-on=; Path=\/; Max-Age=0; /);
  const header = (name: string) => (name === 'cookie' ? session.split(';')[0] : undefined);
  const api = { services, sessionSecret: keys.sessionSecret };
  const credential = readCredential(header, true);
  expect(await authenticate(api, credential, () => undefined)).toMatchObject({
    userId: acme.owner.userId,
    role: 'tenant_admin',
  });
  const later = { ...services, clock: { now: () => Date.now() + 12 * 3_600_000 } };
  expect(await authenticate({ ...api, services: later }, credential, () => undefined)).toBeNull();
});

test.each(['//evil.example.com', 'https://evil.example.com', '/.//evil.example.com', 'javascript:alert(1)'])(
  'never leads to another site: %s',
  async next => {
    expect((await signIn(next)).headers.get('location')).toBe('/signed-in?next=%2F');
  },
);

test('a refusal leads to the sign-in page, and sets no session', async () => {
  issuer.person = { sub: 'owner', email: acme.owner.email, email_verified: false };
  const answer = await signIn();
  expect(answer.headers.get('location')).toBe('/sign-in?error=sign_on_unverified');
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-baton\.sign-on=; /)]);
  const forged = new Request(`${url}/api/auth/oidc/callback?code=x&state=y`);
  const refused = await finishSignOn(identity, forged, client);
  expect(refused.headers.get('location')).toBe('/sign-in?error=sign_on_expired');
});

test('a session cookie is no cookie of a sign-in, nor the reverse', async () => {
  const started = await start('/');
  const token = flowCookieOf(started).split('=')[1] ?? '';
  const api = { services, sessionSecret: keys.sessionSecret };
  expect(await authenticate(api, { kind: 'session', token }, () => undefined)).toBeNull();
});

test('without an issuer there are no such routes', async () => {
  const plain = createTestServices(db, { config: testConfig({ BATON_URL: url }) });
  const none = createConsoleIdentity(plain, keys, async () => undefined);
  for (const answer of [
    await startSignOn(none, new Request(`${url}/api/auth/oidc/start`)),
    await finishSignOn(none, new Request(`${url}/api/auth/oidc/callback?code=x&state=y`), client),
  ])
    expect(answer.status).toBe(404);
});

test('a failure of the service leads to the sign-in page, too, and is reported by its code', async () => {
  const reported: string[] = [];
  const failing = {
    ...identity,
    report: (_: string, code: string) => void reported.push(code),
    signOn: identity.signOn && { ...identity.signOn, begin: () => Promise.reject(new Error('a token')) },
  };
  const answer = await startSignOn(failing, new Request(`${url}/api/auth/oidc/start`));
  expect(answer.headers.get('location')).toBe('/sign-in?error=sign_on_unavailable');
  expect(reported).toEqual(['sign_on_failed']);
});
