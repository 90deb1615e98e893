import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRequestLimiter } from '../../operation/rate-limits.ts';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { hashPassword } from '../../platform/crypto/password.ts';
import { createCall } from '../../testing/call.ts';
import {
  createTestMember,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
  testPassword,
} from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { identityOperations } from './operations.ts';
import { patOperations } from './pats/operations.ts';
import { resolvePat, resolveSession, settleLastUsed } from './principal.ts';
import { limitAttemptsFrom, verifyPassword } from './sign-in.ts';

// Counts the key derivations: the work, and so the time, of an answer. Everything else is the real module; a test that
// needs a hundred derivations gets cheap ones, which wait until the test releases them.
type Held = (() => void)[] | null;
const work = vi.hoisted(() => ({ derivations: [] as string[], comparisons: 0, cheap: false, held: null as Held }));
vi.mock('node:crypto', async importOriginal => {
  const crypto = await importOriginal<typeof import('node:crypto')>();
  const scrypt = (...args: Parameters<typeof crypto.scrypt>) => {
    work.derivations.push(`${args[3]?.N}/${args[3]?.r}/${args[3]?.p}`);
    const [password, salt, length, options, done] = args;
    const begin = () => crypto.scrypt(password, salt, length, work.cheap ? { ...options, N: 16 } : options, done);
    if (work.held === null) return begin();
    work.held.push(begin);
  };
  const timingSafeEqual: typeof crypto.timingSafeEqual = (a, b) => {
    work.comparisons += 1;
    return crypto.timingSafeEqual(a, b);
  };
  return { ...crypto, scrypt, timingSafeEqual, default: { ...crypto, scrypt, timingSafeEqual } };
});

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
const clock = new ManualClock();
const address = '192.0.2.1';
const email = 'owner@acme.example.com';

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());
afterEach(() => {
  work.derivations = [];
  work.comparisons = 0;
  work.cheap = false;
  work.held = null;
});

const signIn = (attempt: object, over = services) =>
  verifyPassword(over, { email, password: testPassword, address, ...attempt });

describe('signing in', () => {
  it('returns the account, with the email in any case, and rehashes an old hash at today’s cost', async () => {
    const before = await db.prisma.user.findFirstOrThrow({ where: { email } });
    expect(before.passwordHash).toContain('ln=4,');
    const expected = { id: acme.owner.userId, email, name: 'owner', sessionEpoch: 0 };
    expect(await signIn({ email: ' Owner@ACME.example.com ' })).toEqual(expected);
    const after = await db.prisma.user.findFirstOrThrow({ where: { email } });
    expect(after.passwordHash).toContain('ln=15,r=8,p=3');
    expect(await signIn({})).toEqual(expected);
  });

  it('gives one answer for the same work, whether account or password is wrong or malformed', async () => {
    await signIn({}); // the hash is at today's cost from here on
    const wrong = [
      { password: 'wrong password' },
      { email: 'nobody@acme.example.com' },
      { email: 'no mail at all' },
      { password: 'short' },
      { password: '' },
      { password: 'x'.repeat(100_000) },
    ];
    for (const attempt of wrong) {
      work.derivations = [];
      expect(await signIn(attempt)).toBeNull();
      expect(work.derivations).toEqual(['32768/8/3']);
    }
  });

  it('costs the same for an address with several accounts', async () => {
    const shared = 'several@acme.example.com';
    const tokens = ['acme', 'second', 'third'].map(async slug => {
      const tenant = slug === 'acme' ? acme : await createTestTenant(services, { slug });
      const call = createCall(services, identityOperations);
      const invitation = { email: shared, role: 'project_viewer' };
      const { token } = (await call(tenant.owner, 'invitations_create', invitation)) as { token: string };
      return call(null, 'invitations_accept', { token, name: 'N', password: `a password at ${slug}` });
    });
    await Promise.all(tokens);
    expect(await db.prisma.user.count({ where: { email: shared } })).toBe(3);
    for (const password of ['a password at acme', 'a password at third', 'a password at none']) {
      work.derivations = [];
      await signIn({ email: shared, password });
      expect(work.derivations).toEqual(['32768/8/3']);
    }
  });

  it('100 attempts of a flood do not keep the owner out, and are logged once', async () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const logged = { ...services, logger: pino(destination) };
    work.cheap = true;
    const person = await createTestMember(services, acme, 'project_viewer', 'awaited@acme.example.com');
    const passwordHash = await hashPassword(testPassword);
    await db.prisma.user.update({ where: { id: person.userId }, data: { passwordHash } });
    const held: (() => void)[] = [];
    work.held = held;
    let refusals = 0;
    const flood = Array.from({ length: 100 }, (_, n) =>
      signIn({ email: `${n}@example.com`, address: '203.0.113.1' }, logged).catch((error: unknown) => {
        refusals += 1;
        return error;
      }),
    );
    await expect.poll(() => refusals).toBe(100 - 66);
    const ends: string[] = [];
    const owner = signIn({ email: person.email, address: '198.51.100.1' }, logged).then(user => {
      ends.push('owner');
      return user;
    });
    // The owner's attempt displaces one attempt of the flood.
    await expect.poll(() => refusals).toBe(101 - 66);
    work.held = null;
    for (const begin of held) begin();
    for (const attempt of flood) void attempt.then(outcome => outcome === null && ends.push('flood'));
    expect(await owner).toMatchObject({ id: person.userId });
    const outcomes = await Promise.all(flood);
    const refused = outcomes.filter(outcome => outcome !== null);
    expect(refused).toHaveLength(35);
    for (const error of refused)
      expect(error).toMatchObject({ status: 429, code: 'sign_in_busy', headers: { 'Retry-After': '5' } });
    // The owner waited for a few of the flood, not for all that were queued.
    expect(ends.indexOf('owner')).toBeLessThan(10);
    expect(lines.filter(line => line.includes('too many password checks are waiting'))).toHaveLength(1);
  });

  it('compares in constant time', async () => {
    await signIn({ password: 'wrong password' });
    expect(work.comparisons).toBe(1);
  });

  it('allows 10 attempts a minute per address and account, the right password included', async () => {
    const limited = {
      ...services,
      rateLimiter: createRequestLimiter({ principal: 0, address: 0, signIn: 10, wrongCodes: 0 }, clock),
    };
    await createTestMember(services, acme, 'project_viewer', 'cheap@acme.example.com');
    for (let i = 0; i < 10; i++) expect(await signIn({ email: 'no mail' }, limited)).toBeNull();
    await expect(signIn({ email: 'no mail either' }, limited)).rejects.toMatchObject({ status: 429 });
    for (let i = 0; i < 10; i++) await signIn({ email: 'Cheap@acme.example.com', password: 'short' }, limited);
    const over = { status: 429, code: 'rate_limited', headers: { 'Retry-After': expect.any(String) } };
    await expect(signIn({ email: 'cheap@acme.example.com' }, limited)).rejects.toMatchObject(over);
    expect(await signIn({ email: 'cheap@acme.example.com', address: '192.0.2.9' }, limited)).not.toBeNull();
    clock.advance(60_000);
    expect(await signIn({ email: 'cheap@acme.example.com' }, limited)).not.toBeNull();
  }, 60_000);

  it('allows 50 attempts a minute per address, for any accounts, even if all other limits are off', async () => {
    const off = { BATON_RATE_LIMIT_PER_MINUTE: '0', BATON_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '0' };
    const rateLimiter = createRequestLimiter(testConfig(off).http.rateLimit, clock);
    const attempt = (n: number, address = '192.0.2.1') =>
      limitAttemptsFrom({ rateLimiter }, { kind: 'sign-in', address, account: `${n}@acme.example.com` });
    for (let n = 0; n < 50; n++) await attempt(n);
    const over = { status: 429, headers: { 'Retry-After': expect.stringMatching(/^([1-9]|[1-5]\d|60)$/) } };
    await expect(attempt(50)).rejects.toMatchObject(over);
    await expect(limitAttemptsFrom({ rateLimiter }, { kind: 'setup', address: '192.0.2.1' })).rejects.toMatchObject(
      over,
    );
    await attempt(50, '192.0.2.2');
    for (let n = 0; n < 9; n++) await attempt(50, '192.0.2.2');
    await expect(attempt(50, '192.0.2.2')).rejects.toMatchObject(over);
    clock.advance(60_000);
    await attempt(50);
  });

  it('limits the failed attempts of an address per day, however slowly they come', async () => {
    const limits = testConfig({ BATON_FAILED_SIGN_INS_PER_ADDRESS_PER_DAY: '5' }).http.rateLimit;
    const limited = { ...services, rateLimiter: createRequestLimiter(limits, clock) };
    const day = 86_400_000;
    clock.advance(day - (clock.now() % day));
    await createTestMember(services, acme, 'project_viewer', 'daily@acme.example.com');
    const spray = (n: number, more: object = {}) => {
      clock.advance(60_000);
      return signIn({ email: `${n}@acme.example.com`, password: 'Summer 2026', ...more }, limited);
    };
    work.cheap = true;
    for (let n = 0; n < 4; n++) expect(await spray(n)).toBeNull();
    // A successful attempt does not count; the fifth failure is the last one allowed.
    for (let n = 0; n < 3; n++)
      expect(await spray(n, { email: 'daily@acme.example.com', password: testPassword })).not.toBeNull();
    expect(await spray(5)).toBeNull();
    const over = { status: 429, code: 'rate_limited', headers: { 'Retry-After': String(86_400 - 9 * 60) } };
    await expect(spray(6)).rejects.toMatchObject(over);
    await expect(limitAttemptsFrom(limited, { kind: 'reset-link', address })).rejects.toMatchObject({ status: 429 });
    expect(await spray(7, { address: '192.0.2.77' })).toBeNull();
    clock.advance(day - (clock.now() % day));
    expect(await spray(8)).toBeNull();
  });

  it('counts towards the day only what the limits per minute admitted', async () => {
    const limits = testConfig({ BATON_FAILED_SIGN_INS_PER_ADDRESS_PER_DAY: '60' }).http.rateLimit;
    const limited = { rateLimiter: createRequestLimiter(limits, clock) };
    const attempt = (n: number) => limitAttemptsFrom(limited, { kind: 'sign-in', address, account: String(n) });
    for (let n = 0; n < 50; n++) await attempt(n);
    for (let n = 50; n < 200; n++) await expect(attempt(n)).rejects.toMatchObject({ status: 429 });
    clock.advance(60_000);
    for (let n = 0; n < 10; n++) await attempt(n);
    await expect(attempt(10)).rejects.toMatchObject({ status: 429, message: expect.stringContaining('today') });
  });
});

describe('one’s own account', () => {
  it('shows the caller with all workspaces, but to a token only its own workspace', async () => {
    const call = createCall(services, [...identityOperations, ...patOperations]);
    const far = await createTestTenant(services, { slug: 'far' });
    const at = new Date(clock.now());
    const both = { tenantId: 'far', userId: acme.contributor.userId, tenantAdmin: true, createdAt: at };
    await db.prisma.membership.create({ data: both });
    const me = await call(acme.contributor, 'me_get');
    expect(me).toMatchObject({
      user: { id: acme.contributor.userId, email: 'contributor@acme.example.com', name: 'contributor' },
      tenant: { id: 'acme', name: 'acme' },
      project: { id: acme.projectId, name: 'default' },
      role: 'project_contributor',
      tenants: [
        {
          id: 'acme',
          tenant_admin: false,
          projects: [{ id: acme.projectId, name: 'default', role: 'project_contributor' }],
        },
        {
          id: 'far',
          tenant_admin: true,
          projects: [{ id: far.projectId, name: 'default', role: 'project_contributor' }],
        },
      ],
    });
    const made = await call(acme.contributor, 'pats_create', { display_name: 't', scopes: ['workflow:read'] });
    const principal = await resolvePat(services, (made as { token: string }).token);
    expect(await call(principal, 'me_get')).toMatchObject({ scopes: ['workflow:read'], tenants: [{ id: 'acme' }] });
    expect(((await call(principal, 'me_get')) as { tenants: unknown[] }).tenants).toHaveLength(1);
    await settleLastUsed(services);
  });

  it('changes the name', async () => {
    const call = createCall(services, identityOperations);
    expect(await call(acme.viewer, 'me_update', { name: ' Vera ' })).toMatchObject({ name: 'Vera' });
    expect(await resolveSession(services, { userId: acme.viewer.userId, sessionEpoch: 0 })).toMatchObject({
      name: 'Vera',
    });
  });

  it('changes the password, given the present one, ends every session, and keeps tokens', async () => {
    const call = createCall(services, [...identityOperations, ...patOperations]);
    const { userId } = acme.viewer;
    const change = (current_password: string, new_password = 'another password') =>
      call(acme.viewer, 'me_change_password', { current_password, new_password });
    await expect(change('not this one')).rejects.toMatchObject({ status: 403, code: 'wrong_password' });
    await expect(change(testPassword, 'short')).rejects.toMatchObject({ status: 422 });
    expect(await change(testPassword)).toBeUndefined();
    expect(await resolveSession(services, { userId, sessionEpoch: 0 })).toBeNull();
    expect(await resolveSession(services, { userId, sessionEpoch: 1 })).not.toBeNull();
    expect(await signIn({ email: 'viewer@acme.example.com' })).toBeNull();
    const signedIn = await signIn({ email: 'viewer@acme.example.com', password: 'another password' });
    expect(signedIn).toMatchObject({ sessionEpoch: 1 });
    const both = await Promise.allSettled([
      change('another password', 'raced password 1'),
      change('another password', 'raced password 2'),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('limits guesses at the present password', async () => {
    const limited = {
      ...services,
      rateLimiter: createRequestLimiter({ principal: 0, address: 0, signIn: 2, wrongCodes: 0 }, clock),
    };
    const call = createCall(limited, identityOperations);
    const guess = () =>
      call(acme.contributor, 'me_change_password', { current_password: 'guess', new_password: 'long enough 1' }).catch(
        error => error.status,
      );
    expect([await guess(), await guess(), await guess()]).toEqual([403, 403, 429]);
  });
});

describe('the log', () => {
  it('contains no password, token or hash, even after failures', async () => {
    const lines: string[] = [];
    const stream = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk))) });
    const broken = { query: () => Promise.reject(new Error('the database is away')) };
    const logged = createTestServices(db, { clock, logger: pino({ level: 'trace' }, stream) });
    const call = createCall(logged, [...identityOperations, ...patOperations]);
    await signIn({ password: 'wrong password' }, logged);
    const made = await call(acme.owner, 'pats_create', { display_name: 't', scopes: ['workflow:read'] });
    const { token, id } = made as { token: string; id: string };
    expect(await resolvePat(logged, token)).not.toBeNull();
    await settleLastUsed(logged);
    // Failures on the paths that log: last_used_at, and the copies of revoked tokens.
    clock.advance(60_000);
    const failing = { ...logged, pool: Object.assign(Object.create(db.pool), { query: failUpdates(db) }) };
    await resolvePat(failing, token);
    await settleLastUsed(failing);
    const noStore = { ...logged, secrets: { ...logged.secrets, delete: () => broken.query() } };
    await createCall(noStore, patOperations)(acme.owner, 'pats_revoke', { id });
    expect(lines).toHaveLength(2);
    for (const secret of [token, token.slice(4, 44), testPassword, 'wrong password', '$scrypt']) {
      expect(lines.join('')).not.toContain(secret);
    }
  });
});

/** Allows reads and refuses writes. */
function failUpdates({ pool }: TestDatabase) {
  return (query: string | object, values?: unknown[]) =>
    typeof query === 'string' && query.startsWith('UPDATE')
      ? Promise.reject(new Error('the database is away'))
      : pool.query(query as never, values as never);
}
