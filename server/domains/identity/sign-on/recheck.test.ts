import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { ManualClock, MINUTE_MS } from '../../../platform/clock.ts';
import {
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../../../testing/identity.ts';
import {
  type IdentityProvider,
  signOnClientId,
  signOnClientSecret,
  startIdentityProvider,
} from '../../../testing/identity-provider.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { resolvePat, resolveSession } from '../principal.ts';
import type { SignOnRecord } from './parts.ts';
import { createSignOn, type SignedOn, type SignOn } from './sign-on.ts';

const url = 'http://127.0.0.1:4000';
const roleMap = {
  staff: { workspace: 'acme', role: 'project_viewer' },
  builders: { workspace: 'acme', role: 'project_contributor' },
};
const open = new AbortController().signal;

let db: TestDatabase;
let acme: TestTenant;
let issuer: IdentityProvider;
let services: Services;
let clock: ManualClock;
let signOn: SignOn;
let records: SignOnRecord[];
let made = 0;

const newIssuer = () =>
  startIdentityProvider({ redirectUri: `${url}/api/auth/oidc/callback`, signedOutUri: `${url}/sign-in` });

beforeAll(async () => {
  db = await createTestDatabase();
  issuer = await newIssuer();
  acme = await createTestTenant(createTestServices(db), { slug: 'acme' });
});
afterAll(async () => {
  await issuer.close();
  await db.close();
});
beforeEach(() => {
  clock = new ManualClock();
  records = [];
  begin('openid email profile offline_access');
});
afterEach(async () => {
  issuer.tamper = null;
  await signOn.close();
  await db.pool.query('UPDATE sign_on_identities SET refresh_token = NULL');
});

function begin(scopes: string, from = issuer): void {
  const config = testConfig({
    BATON_URL: url,
    BATON_OIDC_ISSUER: from.issuer,
    BATON_OIDC_CLIENT_ID: signOnClientId,
    BATON_OIDC_CLIENT_SECRET: signOnClientSecret,
    BATON_OIDC_ROLE_MAP: JSON.stringify(roleMap),
    BATON_OIDC_SCOPES: scopes,
  });
  services = createTestServices(db, { config, clock });
  const created = createSignOn(services, Buffer.alloc(32, 7), async record => void records.push(record));
  if (created === null) throw new Error('There is no issuer.');
  signOn = created;
}

/** Signs a new person in, and gives the person a token. */
async function arrive(groups: string[] = ['staff'], from = issuer) {
  const sub = `member-${++made}`;
  from.person = { sub, email: `${sub}@example.com`, email_verified: true, groups };
  const begun = await signOn.begin('/');
  if ('refused' in begun) throw new Error(begun.refused);
  const { searchParams: params } = await from.visit(begun.url);
  const signedIn = await signOn.finish({ cookie: begun.cookie, params, address: '192.0.2.1' });
  if ('refused' in signedIn) throw new Error(signedIn.refused);
  records = [];
  const principal = { ...acme.viewer, userId: signedIn.id, email: signedIn.email };
  return { sub, ...signedIn, token: (await createTestPat(services, principal, ['workflow:read'])).token };
}

async function accessOf({ id: userId, sessionEpoch, sessionId, token }: SignedOn & { token: string }) {
  const session = await resolveSession(services, { userId, sessionEpoch, sessionId }).catch(() => null);
  const pat = await resolvePat(services, token).catch(() => null);
  return { session: session?.role ?? null, token: pat?.role ?? null };
}

async function recheckLater() {
  clock.advance(5 * MINUTE_MS + 1);
  await signOn.recheck(open);
}

const viewer = { session: 'project_viewer', token: 'project_viewer' };
const none = { session: null, token: null };

describe('a person whom the issuer is asked about', () => {
  test('loses sessions and tokens once the issuer has removed the person', async () => {
    const [gone, stays] = [await arrive(), await arrive()];
    await recheckLater();
    expect([await accessOf(gone), await accessOf(stays)]).toEqual([viewer, viewer]);
    issuer.removed.add(gone.sub);
    await signOn.recheck(open);
    expect(await accessOf(gone)).toEqual(viewer);
    await recheckLater();
    expect([await accessOf(gone), await accessOf(stays)]).toEqual([none, viewer]);
    expect(records).toEqual([
      { tenantId: 'acme', userId: gone.id, operation: 'access_ended', outcome: 'ok', address: null },
    ]);
    await recheckLater();
    expect(records).toHaveLength(1);
  });

  test('keeps roles that follow the groups, without signing in', async () => {
    const person = await arrive();
    issuer.person = { ...issuer.person, groups: ['builders'] };
    await recheckLater();
    expect(await accessOf(person)).toEqual({ session: 'project_contributor', token: 'project_contributor' });
    issuer.person = { ...issuer.person, groups: [] };
    await recheckLater();
    expect(await accessOf(person)).toEqual(none);
  });

  test('loses access when the address is not verified any more', async () => {
    const person = await arrive();
    issuer.person = { ...issuer.person, email_verified: false };
    await recheckLater();
    expect(await accessOf(person)).toEqual(none);
  });

  test('loses nothing by an answer without an ID token, or by one that fails a check', async () => {
    const person = await arrive();
    issuer.person = { ...issuer.person, groups: [] };
    issuer.tamper = ({ id_token: _, ...answer }) => answer;
    await recheckLater();
    expect(await accessOf(person)).toEqual(viewer);
    issuer.tamper = answer => ({ ...answer, id_token: 'e30.e30.e30' });
    await recheckLater();
    expect(await accessOf(person)).toEqual(viewer);
  });

  test('loses nothing while the issuer does not answer', async () => {
    const lost = await newIssuer();
    await signOn.close();
    begin('openid email profile offline_access', lost);
    const person = await arrive(['staff'], lost);
    await lost.close();
    clock.advance(5 * MINUTE_MS + 1);
    await expect(signOn.recheck(open)).rejects.toMatchObject({ reason: 'sign_on_unavailable' });
    expect(await accessOf(person)).toEqual(viewer);
  });
});

test('without the scope offline_access no refresh token is kept, and nobody is asked about', async () => {
  await signOn.close();
  begin('openid email profile');
  const person = await arrive();
  issuer.removed.add(person.sub);
  await recheckLater();
  expect(await accessOf(person)).toEqual(viewer);
  const rows = await db.pool.query('SELECT FROM sign_on_identities WHERE refresh_token IS NOT NULL');
  expect(rows.rowCount).toBe(0);
});

test('a refresh token is sealed for its person', async () => {
  const person = await arrive();
  const { rows } = await db.pool.query<{ refresh_token: Buffer }>(
    'SELECT refresh_token FROM sign_on_identities WHERE user_id = $1',
    [person.id],
  );
  expect(rows[0]?.refresh_token[0]).toBe(1);
  const other = await arrive();
  await db.pool.query('UPDATE sign_on_identities SET refresh_token = $2 WHERE user_id = $1', [
    other.id,
    rows[0]?.refresh_token,
  ]);
  issuer.removed.add(person.sub);
  await recheckLater();
  expect(await accessOf(other)).toEqual(viewer);
  const kept = await db.pool.query('SELECT FROM sign_on_identities WHERE refresh_token IS NOT NULL');
  expect(kept.rowCount).toBe(0);
});
