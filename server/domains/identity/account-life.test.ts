import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../contract/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant, testPassword } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { identityOperations } from './operations.ts';
import { resolveSession } from './principal.ts';
import { verifyPassword } from './sign-in.ts';

/** An account from its invitation on, where nobody can send mail: accounts stay unconfirmed, and no address is claimed. */
let db: TestDatabase;
let services: Services;
let honest: TestTenant;
let evil: TestTenant;
let call: ReturnType<typeof createCall<typeof identityOperations>>;
const clock = new ManualClock();
const STOLEN = 'the password of the inviter';
const OWN = 'the password of the person';

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  honest = await createTestTenant(services, { slug: 'honest' });
  evil = await createTestTenant(services, { slug: 'evil' });
  call = createCall(services, identityOperations);
});
afterAll(() => db.close());

type Accepted = { user_id: string; tenant_id: string; email: string };
const join = async (at: TestTenant, email: string, password: string, more: object = {}): Promise<Accepted> => {
  const invitation = { email, role: 'project_viewer', ...more };
  const { token } = (await call(at.owner, 'invitations_create', invitation)) as { token: string };
  return (await call(null, 'invitations_accept', { token, name: 'Person', password })) as Accepted;
};
const signIn = (email: string, password: string) => verifyPassword(services, { email, password, address: '192.0.2.1' });
const workspaceOf = async (userId: string) => {
  const user = await db.prisma.user.findUniqueOrThrow({ where: { id: userId } });
  return (await resolveSession(services, { userId, sessionEpoch: user.sessionEpoch }))?.tenantId;
};
const membersOf = async (at: TestTenant) =>
  ((await call(at.owner, 'members_list')) as { members: { user_id: string; email: string; confirmed: boolean }[] })
    .members;

describe('an invitation that its maker accepts', () => {
  it('claims nothing: the person joins elsewhere with a password of their own, and both sign in to what is theirs', async () => {
    const email = 'victim@example.com';
    const wrong = await join(evil, email, STOLEN);
    const right = await join(honest, email, OWN);
    expect(right.user_id).not.toBe(wrong.user_id);
    expect((await signIn(email, OWN))?.id).toBe(right.user_id);
    expect((await signIn(email, STOLEN))?.id).toBe(wrong.user_id);
    expect(await workspaceOf(right.user_id)).toBe('honest');
    expect(await workspaceOf(wrong.user_id)).toBe('evil');
  });

  it('takes nothing from an account that was there before, confirmed or not', async () => {
    const unconfirmed = 'early@example.com';
    const early = await join(honest, unconfirmed, OWN);
    for (const email of [unconfirmed, honest.contributor.email]) {
      const known = email === unconfirmed ? OWN : testPassword;
      const shadow = await join(evil, email, STOLEN);
      const owner = email === unconfirmed ? early.user_id : honest.contributor.userId;
      expect(shadow.user_id).not.toBe(owner);
      expect((await signIn(email, known))?.id).toBe(owner);
      expect(await workspaceOf(owner)).toBe('honest');
    }
  });

  it('is replaced in that workspace by the next acceptance, tokens and sessions included', async () => {
    const email = 'replaced@example.com';
    const wrong = await join(honest, email, STOLEN, { role: 'project_contributor' });
    expect((await membersOf(honest)).find(member => member.email === email)).toMatchObject({ confirmed: false });
    const right = await join(honest, email, OWN);
    const present = (await membersOf(honest)).filter(member => member.email === email);
    expect(present).toMatchObject([{ user_id: right.user_id, confirmed: false }]);
    expect(await signIn(email, STOLEN)).toBeNull();
    const session = { userId: wrong.user_id, sessionEpoch: 0 };
    expect(await resolveSession(services, session).catch(error => error.status)).toBeNull();
    expect((await signIn(email, OWN))?.id).toBe(right.user_id);
  });

  it('leaves the workspace an administrator where the replaced account was the only one', async () => {
    const lone = await createTestTenant(services, { slug: 'lone' });
    const email = 'sole@example.com';
    const wrong = await join(lone, email, STOLEN, { tenant_admin: true });
    await call(lone.owner, 'members_update', { user_id: lone.owner.userId, tenant_admin: false });
    const admin = { ...lone.owner, userId: wrong.user_id, email };
    const { token } = (await call(admin, 'invitations_create', { email, role: 'project_viewer' })) as { token: string };
    const right = (await call(null, 'invitations_accept', { token, name: 'P', password: OWN })) as Accepted;
    const members = (await call(admin, 'members_list')) as { members: object[] };
    expect(members.members).toContainEqual(expect.objectContaining({ user_id: right.user_id, tenant_admin: true }));
  });

  it('joins the same account to a second workspace where the password is the same', async () => {
    const email = 'both@example.com';
    const first = await join(honest, email, OWN);
    const second = await join(evil, email, OWN);
    expect(second.user_id).toBe(first.user_id);
    expect(await db.prisma.user.count({ where: { email } })).toBe(1);
  });

  it('makes one account of two acceptances at once with one password', async () => {
    const email = 'atonce@example.com';
    const tokens = await Promise.all(
      [honest, evil].map(
        async at =>
          ((await call(at.owner, 'invitations_create', { email, role: 'project_viewer' })) as { token: string }).token,
      ),
    );
    const accepted = await Promise.all(
      tokens.map(token => call(null, 'invitations_accept', { token, name: 'P', password: OWN }) as Promise<Accepted>),
    );
    expect(accepted[0]?.user_id).toBe(accepted[1]?.user_id);
    expect(await db.prisma.user.count({ where: { email } })).toBe(1);
  });
});
