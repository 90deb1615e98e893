import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequestLimiter } from '../../operation/rate-limits.ts';
import type { Services } from '../../operation/services.ts';
import { DAY_MS, ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import {
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
  testPassword,
} from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { identityOperations } from './operations.ts';
import { resolveSession } from './principal.ts';
import { verifyPassword } from './sign-in.ts';

const password = 'long enough 1';
const missing = { status: 404, code: 'not_found', message: 'Invitation not found.' };

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let far: TestTenant;
let call: ReturnType<typeof createCall<typeof identityOperations>>;
const clock = new ManualClock();

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock, config: testConfig({ BATON_URL: 'https://baton.example.com/' }) });
  acme = await createTestTenant(services, { slug: 'acme' });
  far = await createTestTenant(services, { slug: 'far' });
  call = createCall(services, identityOperations);
});
afterAll(() => db.close());

type Made = { id: string; token: string; accept_url: string; expires_at: string };
const invite = async (email: string, more: object = {}, by = acme.owner) =>
  (await call(by, 'invitations_create', { email, role: 'project_viewer', ...more })) as Made;
const accept = (token: string, more: object = {}) =>
  call(null, 'invitations_accept', { token, name: 'New Person', password, ...more });

describe('invitations', () => {
  it('invites a new person, who then signs in with the offered role', async () => {
    const made = await invite('New@Example.com', { role: 'project_contributor' });
    expect(made).toMatchObject({
      email: 'new@example.com',
      role: 'project_contributor',
      tenant_admin: false,
      expires_at: new Date(clock.now() + 7 * DAY_MS).toISOString(),
      accept_url: `https://baton.example.com/accept-invitation#token=${made.token}`,
    });
    const answer = await accept(made.token);
    expect(answer).toMatchObject({ tenant_id: 'acme', email: 'new@example.com' });
    const user = await verifyPassword(services, { email: 'new@example.com', password, address: 'a' });
    expect(user).toMatchObject({ name: 'New Person', sessionEpoch: 0 });
    const session = { userId: user?.id ?? '', sessionEpoch: 0 };
    expect(await resolveSession(services, session)).toMatchObject({ tenantId: 'acme', role: 'project_contributor' });
  });

  it('stores and lists no token', async () => {
    const made = await invite('listed@example.com');
    const listed = await call(acme.owner, 'invitations_list');
    expect(listed).toMatchObject({ invitations: [{ id: made.id, email: 'listed@example.com' }], next_cursor: null });
    expect(JSON.stringify(listed)).not.toContain(made.token);
    const { rows } = await db.pool.query('SELECT to_jsonb(i) AS row FROM invitations i');
    expect(JSON.stringify(rows)).not.toContain(made.token);
    expect(await call(far.owner, 'invitations_list')).toMatchObject({ invitations: [] });
    await call(acme.owner, 'invitations_delete', { id: made.id });
  });

  it('pages through the open ones, newest first, without accepted and expired ones', async () => {
    const old = await invite('old@example.com');
    clock.advance(7 * DAY_MS);
    await accept((await invite('accepted@example.com')).token);
    const made: string[] = [];
    for (let i = 0; i < 3; i++) {
      clock.advance(1);
      made.push((await invite(`page${i}@example.com`)).id);
    }
    const first = (await call(acme.owner, 'invitations_list', { limit: 2 })) as { next_cursor: string };
    expect(first).toMatchObject({ invitations: [{ id: made[2] }, { id: made[1] }] });
    const second = await call(acme.owner, 'invitations_list', { limit: 2, cursor: first.next_cursor });
    expect(second).toMatchObject({ invitations: [{ id: made[0] }], next_cursor: null });
    await expect(accept(old.token)).rejects.toMatchObject(missing);
  });

  it('gives the same answer for a token that is unknown, used, withdrawn, replaced or expired', async () => {
    const used = await invite('used@example.com');
    await accept(used.token);
    const withdrawn = await invite('withdrawn@example.com');
    await call(acme.owner, 'invitations_delete', { id: withdrawn.id });
    const replaced = await invite('replaced@example.com');
    await invite('replaced@example.com');
    const expired = await invite('expired@example.com');
    const latest = await invite('latest@example.com');
    clock.advance(7 * DAY_MS - 1);
    await accept(latest.token);
    clock.advance(1);
    for (const token of ['unknown', used.token, withdrawn.token, replaced.token, expired.token]) {
      await expect(accept(token)).rejects.toMatchObject(missing);
    }
  });

  it('adds an existing account with its present password, and changes neither name nor password', async () => {
    const { token } = await invite('owner@far.example.com', { tenant_admin: true });
    expect(await accept(token, { password: testPassword })).toMatchObject({ user_id: far.owner.userId });
    const session = { userId: far.owner.userId, sessionEpoch: 0 };
    expect(await resolveSession(services, session, { tenantId: 'acme' })).toMatchObject({
      role: 'tenant_admin',
      name: 'owner',
    });
    expect(await resolveSession(services, session, { tenantId: 'far' })).toMatchObject({ role: 'tenant_admin' });
  });

  it('409 for a person who is already a member, 404 for another tenant’s invitation, 422 for nonsense', async () => {
    await expect(invite('viewer@acme.example.com')).rejects.toMatchObject({ status: 409, code: 'already_member' });
    const theirs = await invite('theirs@example.com', {}, far.owner);
    for (const id of [theirs.id, newId()]) {
      await expect(call(acme.owner, 'invitations_delete', { id })).rejects.toMatchObject({ status: 404 });
    }
    await expect(invite('no-mail')).rejects.toMatchObject({ status: 422 });
    await expect(invite('x@example.com', { role: 'tenant_admin' })).rejects.toMatchObject({ status: 422 });
    await expect(accept(theirs.token, { password: 'short' })).rejects.toMatchObject({ status: 422 });
    await expect(accept(theirs.token, { name: ' ' })).rejects.toMatchObject({ status: 422 });
  });

  it('is accepted once, even by concurrent requests', async () => {
    const { token } = await invite('raced@example.com');
    const settled = await Promise.allSettled(Array.from({ length: 6 }, () => accept(token)));
    const refused = settled.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason.status] : []));
    expect(refused).toHaveLength(5);
    for (const status of refused) expect(status).toBe(404);
    expect(await db.prisma.user.count({ where: { email: 'raced@example.com' } })).toBe(1);
  });

  it('is also accepted only once by an existing account', async () => {
    for (let round = 0; round < 5; round++) {
      const { token } = await invite('viewer@far.example.com');
      const tries = Array.from({ length: 4 }, () => accept(token, { password: testPassword }));
      const settled = await Promise.allSettled(tries);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await call(acme.owner, 'members_remove', { user_id: far.viewer.userId });
    }
  });

  it('leaves one open invitation of an email, even if two are created concurrently', async () => {
    await Promise.all([invite('twice@example.com'), invite('twice@example.com')]);
    expect(await db.prisma.invitation.count({ where: { email: 'twice@example.com', acceptedAt: null } })).toBe(1);
  });

  it('limits attempts to accept by address, like attempts to sign in', async () => {
    const rateLimiter = createRequestLimiter({ principal: 0, address: 0, signIn: 10, wrongCodes: 0 }, clock);
    const limited = createCall({ ...services, rateLimiter }, identityOperations);
    const from = (clientAddress: string) =>
      limited(null, 'invitations_accept', { token: 'guess', name: 'N', password }, { clientAddress }).catch(
        error => error,
      );
    for (let i = 0; i < 10; i++) expect(await from('192.0.2.1')).toMatchObject({ status: 404 });
    expect(await from('192.0.2.1')).toMatchObject({
      status: 429,
      headers: { 'Retry-After': expect.stringMatching(/^\d+$/) },
    });
    expect(await from('192.0.2.2')).toMatchObject({ status: 404 });
  });
});
