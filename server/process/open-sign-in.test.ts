import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock, MINUTE_MS } from '../platform/clock.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestTenant } from '../testing/identity.ts';
import {
  type IdentityProvider,
  signOnClientId,
  signOnClientSecret,
  startIdentityProvider,
} from '../testing/identity-provider.ts';

const url = 'http://127.0.0.1:4000';
const clock = new ManualClock();
const alarms: { delayMs: number; ring: () => void }[] = [];

let issuer: IdentityProvider;
let service: TestContainer;

beforeAll(async () => {
  issuer = await startIdentityProvider({
    redirectUri: `${url}/api/auth/oidc/callback`,
    signedOutUri: `${url}/sign-in`,
  });
  const env = {
    BATON_URL: url,
    BATON_OIDC_ISSUER: issuer.issuer,
    BATON_OIDC_CLIENT_ID: signOnClientId,
    BATON_OIDC_CLIENT_SECRET: signOnClientSecret,
    BATON_OIDC_SCOPES: 'openid email profile offline_access',
    BATON_OIDC_ROLE_MAP: JSON.stringify({ admins: { workspace: 'acme', tenant_admin: true } }),
  };
  const alarm = (delayMs: number, ring: () => void) => {
    alarms.push({ delayMs, ring });
    return () => undefined;
  };
  service = await startTestContainer(env, { alarm, clock });
  await createTestTenant(service.container.services, { slug: 'acme' });
});
afterAll(async () => {
  await service.close();
  await issuer.close();
});

async function signIn(person: IdentityProvider['person']) {
  issuer.person = person;
  const { signOn } = service.container.identity;
  const begun = await signOn?.begin('/');
  if (begun === undefined || 'refused' in begun) throw new Error('no issuer');
  const { searchParams: params } = await issuer.visit(begun.url);
  return signOn?.finish({ cookie: begun.cookie, params, address: '192.0.2.1' });
}

test('sign-ins, refused ones and sign-outs are in the audit log of the workspace', async () => {
  const ada = { sub: 'ada', email: 'ada@example.com', email_verified: true, groups: ['admins'] };
  const signedIn = await signIn(ada);
  if (signedIn === undefined || 'refused' in signedIn) throw new Error('refused');
  const { id: userId, sessionEpoch, sessionId } = signedIn;
  const { identity, services } = service.container;
  const out = await identity.endSession({ userId, sessionEpoch, sessionId }, '192.0.2.2');
  expect(out).toContain('/session/end?');
  expect(await signIn({ ...ada, email_verified: false })).toEqual({ refused: 'sign_on_unverified' });
  const { rows } = await services.pool.query(
    `SELECT user_id, operation, action, outcome, client_address FROM audit_entries WHERE tenant_id = 'acme' ORDER BY id`,
  );
  const entry = { user_id: userId, action: 'oidc' };
  expect(rows).toEqual([
    { ...entry, operation: 'sign_in', outcome: 'ok', client_address: '192.0.2.1' },
    { ...entry, operation: 'sign_out', outcome: 'ok', client_address: '192.0.2.2' },
    { ...entry, operation: 'sign_in', outcome: 'sign_on_unverified', client_address: '192.0.2.1' },
  ]);
});

test('the process that leads asks the issuer about people, each minute about those who are due', async () => {
  const signedIn = await signIn({ sub: 'bob', email: 'bob@example.com', email_verified: true, groups: ['admins'] });
  if (signedIn === undefined || 'refused' in signedIn) throw new Error('refused');
  const { id: userId, sessionEpoch, sessionId } = signedIn;
  const { identity } = service.container;
  const isCurrent = () => identity.isCurrent({ userId, sessionEpoch, sessionId });
  expect(await isCurrent()).toBe(true);
  issuer.removed.add('bob');
  clock.advance(5 * MINUTE_MS + 1);
  for (const { delayMs, ring } of alarms.splice(0)) if (delayMs === MINUTE_MS) ring();
  await expect.poll(isCurrent, { timeout: 20_000 }).toBe(false);
});
