import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRequestLimiter } from '../../../operation/rate-limits.ts';
import type { Services } from '../../../operation/services.ts';
import { HOUR_MS, ManualClock, systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logger.ts';
import {
  contextFor,
  createTestMember,
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
  testPassword,
} from '../../../testing/identity.ts';
import {
  decodeToken,
  encode,
  type IdentityProvider,
  signOnClientId,
  signOnClientSecret,
  startIdentityProvider,
} from '../../../testing/identity-provider.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { addMember, createUser } from '../account-store.ts';
import { createInvitation } from '../invitations.ts';
import { resolvePat, resolveSession } from '../principal.ts';
import { verifyPassword } from '../sign-in.ts';
import type { SignOnRecord } from './parts.ts';
import { createSignOn, type SignOn } from './sign-on.ts';
import { unlinkAddress } from './unlink.ts';

const URL_OF_BATON = 'http://127.0.0.1:4000';
const roleMap = {
  staff: { workspace: 'acme', role: 'project_viewer' },
  builders: { workspace: 'acme', role: 'project_contributor' },
  admins: [{ workspace: 'acme', tenant_admin: true }],
  lost: { workspace: 'nowhere', role: 'project_viewer' },
  astray: { workspace: 'acme', project: 'missing', role: 'project_viewer' },
};
const masterKey = Buffer.alloc(32, 7);

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let other: TestTenant;
let issuer: IdentityProvider;
let records: SignOnRecord[];
const open: SignOn[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
  issuer = await startIdentityProvider({
    redirectUri: `${URL_OF_BATON}/api/auth/oidc/callback`,
    signedOutUri: `${URL_OF_BATON}/sign-in`,
  });
  acme = await createTestTenant(createTestServices(db), { slug: 'acme' });
  other = await createTestTenant(createTestServices(db), { slug: 'other' });
});
afterAll(async () => {
  await issuer.close();
  await db.close();
});
beforeEach(() => {
  records = [];
  services = createTestServices(db, { config: testConfig(settings()) });
});
afterEach(async () => {
  issuer.tamper = null;
  issuer.tamperMetadata = null;
  for (const each of open.splice(0)) await each.close();
});

const settings = (env: Record<string, string> = {}) => ({
  BATON_URL: URL_OF_BATON,
  BATON_OIDC_ISSUER: issuer.issuer,
  BATON_OIDC_CLIENT_ID: signOnClientId,
  BATON_OIDC_CLIENT_SECRET: signOnClientSecret,
  BATON_OIDC_ROLE_MAP: JSON.stringify(roleMap),
  ...env,
});

function signOnOf(over: Services = services): SignOn {
  const signOn = createSignOn(over, masterKey, async record => void records.push(record));
  if (signOn === null) throw new Error('There is no issuer.');
  open.push(signOn);
  return signOn;
}

async function begin(signOn: SignOn) {
  const begun = await signOn.begin('/runs');
  if ('refused' in begun) throw new Error(begun.refused);
  return { ...begun, params: (await issuer.visit(begun.url)).searchParams };
}

/** Signs a person in; the claims stay those of the issuer. */
async function signInAs(person: IdentityProvider['person'], signOn = signOnOf()) {
  issuer.person = person;
  const { cookie, params } = await begin(signOn);
  return signOn.finish({ cookie, params, address: '192.0.2.1' });
}

async function admitted(person: IdentityProvider['person'], signOn?: SignOn) {
  const outcome = await signInAs(person, signOn);
  if ('refused' in outcome) throw new Error(outcome.refused);
  return outcome;
}

let made = 0;
const newPerson = (groups: unknown = ['staff'], more: object = {}) => {
  const sub = `person-${++made}`;
  return { sub, email: `${sub}@example.com`, email_verified: true, name: `Person ${made}`, groups, ...more };
};

const roleOf = async (userId: string, tenantId = 'acme') =>
  (
    await resolveSession(services, { userId, sessionEpoch: (await user(userId)).sessionEpoch }, { tenantId }).catch(
      () => null,
    )
  )?.role ?? null;
const user = (id: string) => db.prisma.user.findUniqueOrThrow({ where: { id } });

/** Counts what a refused sign-in must not change. */
async function everything() {
  const tables = [
    'users',
    'memberships',
    'project_members',
    'sign_on_identities',
    'sign_on_sessions',
    'ended_sessions',
  ];
  const rows = await Promise.all(tables.map(table => db.pool.query(`SELECT t::text FROM ${table} t ORDER BY 1`)));
  return rows.map(({ rows }) => rows);
}

describe('a sign-in', () => {
  test('uses code, PKCE, state and nonce, and makes an account whose roles are those of its groups', async () => {
    const person = newPerson(['staff', 'builders', 'unknown']);
    const signedIn = await admitted(person);
    const asked = issuer.requests.at(-1);
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(signedIn).toMatchObject({ email: person.email, name: person.name, next: '/runs' });
    expect(await roleOf(signedIn.id)).toBe('project_contributor');
    expect(await user(signedIn.id)).toMatchObject({ confirmedAt: expect.any(Date) });
    expect(records).toEqual([
      { tenantId: 'acme', userId: signedIn.id, operation: 'sign_in', outcome: 'ok', address: '192.0.2.1' },
    ]);
    expect((await admitted(person)).id).toBe(signedIn.id);
  });

  test('reads address and groups from the userinfo endpoint where the ID token has none', async () => {
    const plain = await startIdentityProvider({
      redirectUri: `${URL_OF_BATON}/api/auth/oidc/callback`,
      signedOutUri: `${URL_OF_BATON}/sign-in`,
      userinfo: true,
    });
    const first = issuer;
    issuer = plain;
    services = createTestServices(db, { config: testConfig(settings()) });
    try {
      expect(await roleOf((await admitted(newPerson(['admins']))).id)).toBe('tenant_admin');
    } finally {
      issuer = first;
      await plain.close();
    }
  });

  test('links the confirmed account of a verified address, and replaces unconfirmed ones', async () => {
    const linked = await admitted({ ...newPerson(['builders']), email: acme.viewer.email });
    expect(linked.id).toBe(acme.viewer.userId);
    const person = newPerson();
    const passwordHash = (await user(acme.owner.userId)).passwordHash;
    const at = new Date();
    const claimed = { email: person.email, name: 'Somebody', passwordHash };
    const stranger = await createUser(db.prisma, claimed, at, { confirmed: false });
    await addMember(db.prisma, { ...other, userId: stranger, tenantAdmin: false, role: 'project_viewer' }, at);
    const { token } = await createTestPat(services, { ...other.viewer, userId: stranger, email: person.email }, [
      'workflow:read',
    ]);
    expect(await resolvePat(services, token)).not.toBeNull();
    const signedIn = await admitted(person);
    expect(signedIn.id).not.toBe(stranger);
    expect(await resolvePat(services, token)).toBeNull();
    expect(await roleOf(signedIn.id, 'other')).toBe('project_viewer');
    const attempt = { email: person.email, password: testPassword, address: '192.0.2.2' };
    expect(await verifyPassword(services, attempt)).toBeNull();
  });

  test('accepts the open invitations of the verified address, in workspaces that the map does not name', async () => {
    const person = newPerson([]);
    const invite = (tenant: TestTenant) =>
      createInvitation(contextFor(services, tenant.owner), {
        email: person.email,
        role: 'project_contributor',
        tenant_admin: false,
      });
    await invite(acme);
    await invite(other);
    const signedIn = await admitted(person);
    expect([await roleOf(signedIn.id), await roleOf(signedIn.id, 'other')]).toEqual([null, 'project_contributor']);
  });
});

describe('roles follow the groups at each sign-in', () => {
  test('up and down, also for tokens', async () => {
    const person = newPerson(['admins']);
    const { id } = await admitted(person);
    expect(await roleOf(id)).toBe('tenant_admin');
    await admitted({ ...person, groups: ['staff'] });
    expect(await roleOf(id)).toBe('project_viewer');
  });

  test('a person without a group is not let in, and loses roles, tokens and sessions there', async () => {
    const person = newPerson(['builders']);
    const { id, sessionEpoch, sessionId } = await admitted(person);
    const principal = { ...acme.contributor, userId: id, email: person.email };
    const { token } = await createTestPat(services, principal, ['workflow:read']);
    expect(await resolvePat(services, token)).not.toBeNull();
    records = [];
    expect(await signInAs({ ...person, groups: [] })).toEqual({ refused: 'sign_on_no_role' });
    expect(await resolvePat(services, token)).toBeNull();
    expect(await resolveSession(services, { userId: id, sessionEpoch, sessionId })).toBeNull();
    expect(await roleOf(id)).toBeNull();
    expect(records).toMatchObject([{ tenantId: 'acme', userId: id, outcome: 'sign_on_no_role' }]);
    expect(await roleOf((await admitted(person)).id)).toBe('project_contributor');
  });

  test('an account that has never signed in there loses nothing', async () => {
    const email = 'with-a-password@example.com';
    await createTestMember(services, acme, 'project_contributor', email);
    const before = await everything();
    expect(await signInAs(newPerson([], { email }))).toEqual({ refused: 'sign_on_no_role' });
    expect(await everything()).toEqual(before);
  });

  test('the last administrator keeps the role, but neither tokens nor sessions', async () => {
    const alone = await createTestTenant(services, { slug: 'alone' });
    const map = JSON.stringify({ staff: { workspace: 'alone', role: 'project_viewer' } });
    services = createTestServices(db, { config: testConfig(settings({ BATON_OIDC_ROLE_MAP: map })) });
    const { token } = await createTestPat(services, alone.owner, ['workflow:read']);
    const person = { ...newPerson(), email: alone.owner.email };
    await admitted(person);
    expect(await roleOf(alone.owner.userId, 'alone')).toBe('tenant_admin');
    expect(await signInAs({ ...person, groups: [] })).toEqual({ refused: 'sign_on_no_role' });
    expect(await roleOf(alone.owner.userId, 'alone')).toBe('tenant_admin');
    expect(await resolvePat(services, token)).toBeNull();
    const session = { userId: alone.owner.userId, sessionEpoch: 0 };
    expect(await resolveSession(services, session)).toBeNull();
  });

  test('other workspaces than those of the map are left alone', async () => {
    const email = 'both@example.com';
    const member = await createTestMember(services, other, 'project_contributor', email);
    const person = newPerson(['staff'], { email });
    await admitted(person);
    await admitted({ ...person, groups: [] });
    expect([await roleOf(member.userId), await roleOf(member.userId, 'other')]).toEqual([null, 'project_contributor']);
  });
});

type Tamper = NonNullable<IdentityProvider['tamper']>;
/** Answers with an ID token of the issuer's own key whose claims were changed. */
const claiming =
  (change: object): Tamper =>
  async (answer, sign) => {
    const [header, claims] = decodeToken(answer.id_token);
    return { ...answer, id_token: await sign.real(header, { ...claims, ...change }) };
  };
const seconds = () => Math.floor(Date.now() / 1000);

describe('a hostile answer: one line, nothing changed, nobody let in', () => {
  const tampered: [string, Tamper][] = [
    ['an ID token of another issuer', claiming({ iss: 'https://evil.example.com' })],
    ['an ID token of another audience', claiming({ aud: 'another-client' })],
    ['an ID token of several audiences, for another one', claiming({ aud: [signOnClientId, 'x'], azp: 'x' })],
    ['an expired ID token', claiming({ iat: seconds() - 7200, exp: seconds() - 3600 })],
    ['an ID token of another sign-in', claiming({ nonce: 'another' })],
    ['an ID token without a nonce', claiming({ nonce: undefined })],
    [
      'an ID token with the algorithm "none"',
      answer => {
        const [, claims] = decodeToken(answer.id_token);
        return { ...answer, id_token: `${encode({ alg: 'none' })}.${encode(claims)}.` };
      },
    ],
    [
      'an ID token of another key',
      async (answer, sign) => {
        const [header, claims] = decodeToken(answer.id_token);
        return { ...answer, id_token: await sign.stranger(header, claims) };
      },
    ],
    [
      'an ID token that was changed after it was signed',
      answer => {
        const [header, , signature] = String(answer.id_token).split('.');
        const [, claims] = decodeToken(answer.id_token);
        return { ...answer, id_token: `${header}.${encode({ ...claims, sub: 'somebody-else' })}.${signature}` };
      },
    ],
    ['no ID token', ({ id_token: _, ...answer }) => answer],
  ];
  test.each(tampered)('%s', async (_, tamper) => {
    const before = await everything();
    issuer.tamper = tamper;
    expect(await signInAs(newPerson(['admins']))).toEqual({ refused: 'sign_on_untrusted' });
    expect(await everything()).toEqual(before);
    expect(records).toEqual([]);
  });

  test.each([
    ['that is not verified', { email_verified: false }, 'sign_on_unverified'],
    ['whose verification is a text', { email_verified: 'true' }, 'sign_on_unverified'],
    ['about which nothing is said', { email_verified: undefined }, 'sign_on_unverified'],
    ['that is missing', { email: undefined }, 'sign_on_unverified'],
    ['of another domain', { email: 'eve@notexample.com' }, 'sign_on_domain'],
    ['of a subdomain', { email: 'eve@sub.example.com' }, 'sign_on_domain'],
    ['that only begins with the domain', { email: 'eve@example.com.evil.com' }, 'sign_on_domain'],
  ])('an address %s', async (_, change, refused) => {
    const env = settings({ BATON_OIDC_ALLOWED_DOMAINS: 'Example.com, example.org' });
    services = createTestServices(db, { config: testConfig(env) });
    const before = await everything();
    expect(await signInAs({ ...newPerson(['admins']), ...change } as IdentityProvider['person'])).toEqual({ refused });
    expect(await everything()).toEqual(before);
  });

  test('the unverified address of an account links nothing', async () => {
    const before = await everything();
    const eve = newPerson(['staff'], { email: acme.owner.email, email_verified: false });
    expect(await signInAs(eve)).toEqual({ refused: 'sign_on_unverified' });
    expect(await everything()).toEqual(before);
  });

  test('an address that the issuer has given to another person', async () => {
    const person = newPerson();
    await admitted(person);
    const before = await everything();
    const next = { ...person, sub: 'its-next-owner' };
    expect(await signInAs(next)).toEqual({ refused: 'sign_on_address_taken' });
    expect(await everything()).toEqual(before);
    await unlinkAddress(services, person.email);
    expect((await admitted(next)).email).toBe(person.email);
    expect(await signInAs(person)).toEqual({ refused: 'sign_on_address_taken' });
  });

  test.each([
    ['a workspace that does not exist', ['staff', 'lost'], 'the workspace "nowhere"'],
    ['a project that does not exist', ['astray'], 'the project "missing" of the workspace "acme"'],
  ])('a map that names %s', async (_, groups, named) => {
    const lines: string[] = [];
    const logger = createLogger('warn', { destination: { write: line => void lines.push(line) } });
    services = { ...services, logger };
    const person = newPerson(['staff']);
    await admitted(person);
    const before = await everything();
    expect(await signInAs({ ...person, groups })).toEqual({ refused: 'sign_on_misconfigured' });
    expect(await everything()).toEqual(before);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(JSON.stringify(named).slice(1, -1));
  });

  test('a list of groups that the issuer left out takes no role away', async () => {
    const person = newPerson(['builders']);
    const { id } = await admitted(person);
    const { groups: _, ...rest } = person;
    expect(await signInAs({ ...rest, _claim_names: { groups: 'src1' } })).toEqual({ refused: 'sign_on_groups' });
    expect(await roleOf(id)).toBe('project_contributor');
  });

  test.each([
    ['a text', 'staff,admins'],
    ['numbers', [1]],
    ['an object', { staff: true }],
    ['null', null],
    ['nothing', undefined],
  ])('groups that are %s grant nothing', async (_, groups) => {
    expect(await signInAs(newPerson(null, { groups }))).toEqual({ refused: 'sign_on_no_role' });
  });

  test('metadata of another issuer', async () => {
    issuer.tamperMetadata = metadata => ({ ...metadata, issuer: 'https://evil.example.com' });
    expect(await signOnOf().begin('/')).toEqual({ refused: 'sign_on_untrusted' });
  });

  test('an issuer that does not answer', async () => {
    const config = testConfig(settings({ BATON_OIDC_ISSUER: 'http://127.0.0.1:1' }));
    expect(await signOnOf({ ...services, config }).begin('/')).toEqual({ refused: 'sign_on_unavailable' });
  });
});

describe('the way back from the issuer', () => {
  test('works in the browser that started it, once', async () => {
    const signOn = signOnOf();
    issuer.person = newPerson();
    const mine = await begin(signOn);
    const theirs = await begin(signOn);
    const finish = (cookie: string | undefined, params: URLSearchParams) =>
      signOn.finish({ cookie, params, address: '192.0.2.1' });
    const before = await everything();
    for (const cookie of [undefined, '', 'forged', theirs.cookie])
      expect(await finish(cookie, mine.params)).toEqual({ refused: 'sign_on_expired' });
    const twice = new URLSearchParams(mine.params);
    twice.append('state', twice.get('state') ?? '');
    expect(await finish(mine.cookie, twice)).toEqual({ refused: 'sign_on_expired' });
    expect(await everything()).toEqual(before);
    const [one, two] = await Promise.all([finish(mine.cookie, mine.params), finish(mine.cookie, mine.params)]);
    expect([one, two].filter(outcome => 'refused' in outcome)).toEqual([{ refused: 'sign_on_expired' }]);
    expect(await finish(mine.cookie, mine.params)).toEqual({ refused: 'sign_on_expired' });
  });

  test('with a code that was used before, in a sign-in of its own', async () => {
    const signOn = signOnOf();
    issuer.person = newPerson();
    const first = await begin(signOn);
    await signOn.finish({ cookie: first.cookie, params: first.params, address: '192.0.2.1' });
    const second = await begin(signOn);
    second.params.set('code', first.params.get('code') ?? '');
    const before = await everything();
    const replayed = await signOn.finish({ cookie: second.cookie, params: second.params, address: '192.0.2.1' });
    expect(replayed).toEqual({ refused: 'sign_on_denied' });
    expect(await everything()).toEqual(before);
  });

  test('of another issuer (RFC 9207), or with a refusal', async () => {
    const signOn = signOnOf();
    issuer.person = newPerson();
    const mixed = await begin(signOn);
    mixed.params.set('iss', 'https://evil.example.com');
    const finish = (begun: { cookie: string; params: URLSearchParams }) =>
      signOn.finish({ cookie: begun.cookie, params: begun.params, address: '192.0.2.1' });
    expect(await finish(mixed)).toEqual({ refused: 'sign_on_untrusted' });
    const { cookie, params } = await begin(signOn);
    params.delete('code');
    params.set('error', 'access_denied');
    params.set('error_description', 'a text of the issuer');
    expect(await finish({ cookie, params })).toEqual({ refused: 'sign_on_denied' });
  });

  test('after more than ten minutes', async () => {
    const clock = new ManualClock();
    const signOn = signOnOf({ ...services, clock });
    issuer.person = newPerson();
    const { cookie, params } = await begin(signOn);
    clock.advance(10 * 60_000);
    expect(await signOn.finish({ cookie, params, address: '192.0.2.1' })).toEqual({ refused: 'sign_on_expired' });
  });

  test('is limited for each address like any sign-in', async () => {
    const limits = { principal: 0, address: 0, signIn: 1, signInPerAddress: 2, wrongCodes: 0 };
    const signOn = signOnOf({ ...services, rateLimiter: createRequestLimiter(limits, systemClock) });
    const forged = (state: string, address = '192.0.2.9') =>
      signOn.finish({ cookie: 'forged', params: new URLSearchParams({ state, code: 'x' }), address });
    await forged('one');
    await forged('two');
    await expect(forged('three')).rejects.toMatchObject({ status: 429 });
    await forged('one', '192.0.2.10');
    await expect(forged('one', '192.0.2.10')).rejects.toMatchObject({ status: 429 });
  });
});

describe('the end of a session', () => {
  test('ends it at the issuer too, and is recorded', async () => {
    const signOn = signOnOf();
    const { id: userId, sessionId } = await admitted(newPerson(), signOn);
    records = [];
    const session = { userId, sessionEpoch: 0, sessionId };
    const url = new URL((await signOn.end(session, '192.0.2.1')) ?? '');
    expect(`${url.origin}${url.pathname}`).toBe(`${issuer.issuer}/session/end`);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${URL_OF_BATON}/sign-in`);
    expect(decodeToken(url.searchParams.get('id_token_hint'))[1]).toMatchObject({ aud: signOnClientId });
    expect(records).toMatchObject([{ tenantId: 'acme', userId, operation: 'sign_out', outcome: 'ok' }]);
    expect(await signOn.end(session, null)).toBeNull();
  });

  test('comes after twelve hours, however often the session is renewed', async () => {
    const { id: userId, sessionEpoch, sessionId, until } = await admitted(newPerson());
    const at = (now: number) =>
      resolveSession({ ...services, clock: { now: () => now } }, { userId, sessionEpoch, sessionId, until });
    expect(Math.round((until - Date.now()) / HOUR_MS)).toBe(12);
    expect(await at(until - 1)).not.toBeNull();
    expect(await at(until)).toBeNull();
  });

  test('keeps no readable ID token', async () => {
    const { sessionId } = await admitted(newPerson());
    const row = await db.prisma.signOnSession.findUniqueOrThrow({ where: { sessionId } });
    expect(Buffer.from(row.idToken).toString('latin1')).not.toContain('eyJ');
  });
});
