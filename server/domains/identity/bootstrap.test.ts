import { describe, expect, it } from 'vitest';
import { createRequestLimiter } from '../../operation/rate-limits.ts';
import type { Services } from '../../operation/services.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, createTestTenant, testConfig } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { exampleOwnerEmail, seedFirstOwner } from './bootstrap.ts';
import { createFirstOwner } from './first-owner.ts';
import { identityOperations } from './operations.ts';
import { generatePatToken } from './pats/token.ts';
import { resolvePat, resolveSession, settleLastUsed } from './principal.ts';
import { verifyPassword } from './sign-in.ts';

const password = 'a chosen password';

async function withServices(
  env: Record<string, string>,
  test: (services: Services, db: TestDatabase) => Promise<void>,
): Promise<void> {
  await using db = await createTestDatabase();
  const services = createTestServices(db, { config: testConfig(env) });
  await test(services, db);
  await settleLastUsed(services);
}

describe('BATON_SEED', () => {
  it('defaults to example with the embedded database and to none with another', () => {
    const seed = (env: Record<string, string>) => testConfig(env).identity.seed;
    expect(seed({ BATON_SEED: undefined as never })).toBe('example');
    expect(seed({ BATON_SEED: undefined as never, DATABASE_URL: 'postgresql://db/x' })).toBe('none');
    expect(seed({ BATON_SEED: 'example', DATABASE_URL: 'postgresql://db/x' })).toBe('example');
    expect(() => seed({ BATON_SEED: 'everything' })).toThrow(/BATON_SEED/);
  });
});

describe('seedFirstOwner', () => {
  it('creates a local owner whose password and token work, once', () =>
    withServices({ BATON_SEED: 'example' }, async services => {
      const seeded = await seedFirstOwner(services);
      if (!seeded.created) throw new Error('nothing was seeded');
      expect(seeded).toMatchObject({ email: exampleOwnerEmail, tenantId: 'main' });
      const user = await verifyPassword(services, {
        email: seeded.email,
        password: String(seeded.password),
        address: 'a',
      });
      const session = { userId: user?.id ?? '', sessionEpoch: 0 };
      expect(await resolveSession(services, session)).toMatchObject({ tenantId: 'main', role: 'tenant_admin' });
      expect(await resolvePat(services, String(seeded.pat))).toMatchObject({
        role: 'tenant_admin',
        credential: { scopes },
      });
      expect(await seedFirstOwner(services)).toEqual({ created: false });
    }));

  it('creates the configured owner, and prints none of its secrets', () => {
    const pat = generatePatToken();
    const env = {
      BATON_OWNER_EMAIL: 'Boss@Example.com',
      BATON_OWNER_PASSWORD: password,
      BATON_TENANT: 'acme',
      BATON_PAT: pat,
    };
    return withServices(env, async services => {
      expect(await seedFirstOwner(services)).toEqual({ created: true, email: 'boss@example.com', tenantId: 'acme' });
      expect(await verifyPassword(services, { email: 'boss@example.com', password, address: 'a' })).not.toBeNull();
      expect(await resolvePat(services, pat)).toMatchObject({ tenantId: 'acme', role: 'tenant_admin' });
    });
  });

  it('uses BATON_PAT as the token of the example owner', () => {
    const pat = generatePatToken();
    return withServices({ BATON_SEED: 'example', BATON_PAT: pat }, async services => {
      const seeded = await seedFirstOwner(services);
      expect(seeded).toMatchObject({ created: true, password: expect.any(String) });
      expect(seeded).not.toHaveProperty('pat');
      expect(await resolvePat(services, pat)).not.toBeNull();
    });
  });

  it('names the wrong variable in one line, without its value, and creates nothing', async () => {
    const owner = { BATON_OWNER_EMAIL: 'boss@example.com', BATON_OWNER_PASSWORD: password };
    const typo = `${generatePatToken().slice(0, -1)}!`;
    const cases: [Record<string, string>, RegExp][] = [
      [{ ...owner, BATON_OWNER_EMAIL: 'boss' }, /^BATON_OWNER_EMAIL: /],
      [{ BATON_OWNER_EMAIL: 'boss@example.com' }, /^BATON_OWNER_PASSWORD: /],
      [{ ...owner, BATON_OWNER_PASSWORD: 'short' }, /^BATON_OWNER_PASSWORD: /],
      [{ ...owner, BATON_PAT: typo }, /^BATON_PAT: /],
      [{ BATON_SEED: 'example', BATON_PAT: typo }, /^BATON_PAT: /],
      [{ BATON_PAT: generatePatToken() }, /^BATON_PAT: needs BATON_OWNER_EMAIL/],
    ];
    await using db = await createTestDatabase();
    for (const [env, message] of cases) {
      const error = await seedFirstOwner(createTestServices(db, { config: testConfig(env) })).catch(thrown => thrown);
      expect(error.message).toMatch(message);
      expect(error.message).not.toMatch(/\n/);
      for (const value of Object.values(env)) if (value.length > 7) expect(error.message).not.toContain(value);
    }
    expect(await db.prisma.user.count()).toBe(0);
  });

  it('creates one owner when several processes start concurrently', async () => {
    await using db = await createTestDatabase();
    const seeded = await Promise.all(
      Array.from({ length: 4 }, () =>
        seedFirstOwner(createTestServices(db, { config: testConfig({ BATON_SEED: 'example' }) })),
      ),
    );
    expect(seeded.filter(({ created }) => created)).toHaveLength(1);
    expect(await db.prisma.user.count()).toBe(1);
  });
});

describe('set-up', () => {
  const form = { name: 'Ada', email: 'Ada@Example.com', password };

  it('requires the printed token, creates the owner once, and is then gone', () =>
    withServices({ BATON_TENANT: 'house' }, async services => {
      const call = createCall(services, identityOperations);
      const seeded = await seedFirstOwner(services);
      if (seeded.created || !seeded.setupToken) throw new Error('no set-up token');
      const { setupToken: token } = seeded;
      expect(await call(null, 'setup_status')).toEqual({ required: true });
      const wrong = { status: 403, code: 'wrong_setup_token' };
      for (const guess of ['x', token.slice(1), `${token}x`]) {
        await expect(call(null, 'setup_create', { ...form, token: guess })).rejects.toMatchObject(wrong);
      }
      await expect(call(null, 'setup_create', { ...form, token, tenant: 'Not A Slug' })).rejects.toMatchObject({
        status: 422,
      });
      const made = (await call(null, 'setup_create', { ...form, token })) as { user_id: string };
      expect(made).toMatchObject({ tenant_id: 'house' });
      expect(await resolveSession(services, { userId: made.user_id, sessionEpoch: 0 })).toMatchObject({
        email: 'ada@example.com',
        role: 'tenant_admin',
      });
      expect(await call(null, 'setup_status')).toEqual({ required: false });
      await expect(call(null, 'setup_create', { ...form, token })).rejects.toMatchObject({ status: 404 });
      await expect(call(null, 'setup_create', { ...form, token: 'x' })).rejects.toMatchObject({ status: 404 });
    }));

  it('succeeds for only one of several concurrent requests', () =>
    withServices({}, async (services, db) => {
      const call = createCall(services, identityOperations);
      const { setupToken: token } = (await seedFirstOwner(services)) as { setupToken: string };
      const tries = Array.from({ length: 5 }, (_, i) =>
        call(null, 'setup_create', { ...form, token, tenant: `t${i}`, email: `ada${i}@example.com` }),
      );
      const settled = await Promise.allSettled(tries);
      const refused = settled.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason.status] : []));
      expect(refused).toEqual([404, 404, 404, 404]);
      expect(await db.prisma.user.count()).toBe(1);
      expect(await db.prisma.tenant.count()).toBe(1);
    }));

  it('succeeds in only one of several processes', () =>
    withServices({}, async (services, db) => {
      const tries = Array.from({ length: 8 }, (_, i) =>
        createFirstOwner(services, { tenantId: `t${i}`, email: `ada${i}@example.com`, name: 'Ada', passwordHash: '-' }),
      );
      expect((await Promise.all(tries)).filter(owner => owner !== null)).toHaveLength(1);
      expect(await db.prisma.user.count()).toBe(1);
      expect(await db.prisma.tenant.count()).toBe(1);
    }));

  it('is refused in a process without a set-up token, and rate-limited by address', () =>
    withServices({}, async services => {
      const clock = new ManualClock();
      const rateLimiter = createRequestLimiter({ principal: 0, address: 0, signIn: 3, wrongCodes: 0 }, clock);
      const call = createCall({ ...services, rateLimiter }, identityOperations);
      const guess = (clientAddress: string) =>
        call(null, 'setup_create', { ...form, token: 'undefined' }, { clientAddress }).catch(error => error.status);
      expect([await guess('a'), await guess('a'), await guess('a'), await guess('a')]).toEqual([403, 403, 403, 429]);
      expect(await guess('b')).toBe(403);
      clock.advance(60_000);
      expect(await guess('a')).toBe(403);
    }));

  it('is 404 as soon as there is an account', () =>
    withServices({}, async services => {
      await createTestTenant(services, { slug: 'acme' });
      const call = createCall(services, identityOperations);
      expect(await seedFirstOwner(services)).toEqual({ created: false });
      await expect(call(null, 'setup_create', { ...form, token: 'x' })).rejects.toMatchObject({ status: 404 });
    }));
});
