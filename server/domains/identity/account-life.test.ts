import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Accepted,
  type AccountWorld,
  createAccountWorld,
  OWN_PASSWORD,
  STOLEN_PASSWORD,
} from '../../testing/accounts.ts';
import { createTestTenant, type TestTenant, testPassword } from '../../testing/identity.ts';
import { resolveSession } from './principal.ts';

/**
 * Tests an account from its invitation on, in a deployment without mail, where accounts stay unconfirmed and no address
 * is claimed.
 */
let db: AccountWorld['db'];
let services: AccountWorld['services'];
let honest: AccountWorld['honest'];
let evil: AccountWorld['evil'];
let call: AccountWorld['call'];
let join: AccountWorld['join'];
let signIn: AccountWorld['signIn'];
let close: AccountWorld['close'];

beforeAll(async () => {
  ({ db, services, honest, evil, call, join, signIn, close } = await createAccountWorld());
});
afterAll(() => close());

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
    const wrong = await join(evil, email, STOLEN_PASSWORD);
    const right = await join(honest, email, OWN_PASSWORD);
    expect(right.user_id).not.toBe(wrong.user_id);
    expect((await signIn(email, OWN_PASSWORD))?.id).toBe(right.user_id);
    expect((await signIn(email, STOLEN_PASSWORD))?.id).toBe(wrong.user_id);
    expect(await workspaceOf(right.user_id)).toBe('honest');
    expect(await workspaceOf(wrong.user_id)).toBe('evil');
  });

  it('takes nothing from an existing account, confirmed or not', async () => {
    const unconfirmed = 'early@example.com';
    const early = await join(honest, unconfirmed, OWN_PASSWORD);
    for (const email of [unconfirmed, honest.contributor.email]) {
      const known = email === unconfirmed ? OWN_PASSWORD : testPassword;
      const shadow = await join(evil, email, STOLEN_PASSWORD);
      const owner = email === unconfirmed ? early.user_id : honest.contributor.userId;
      expect(shadow.user_id).not.toBe(owner);
      expect((await signIn(email, known))?.id).toBe(owner);
      expect(await workspaceOf(owner)).toBe('honest');
    }
  });

  it('creates an account that the next acceptance replaces, with its tokens and sessions', async () => {
    const email = 'replaced@example.com';
    const wrong = await join(honest, email, STOLEN_PASSWORD, { role: 'project_contributor' });
    expect((await membersOf(honest)).find(member => member.email === email)).toMatchObject({ confirmed: false });
    const right = await join(honest, email, OWN_PASSWORD);
    const present = (await membersOf(honest)).filter(member => member.email === email);
    expect(present).toMatchObject([{ user_id: right.user_id, confirmed: false }]);
    expect(await signIn(email, STOLEN_PASSWORD)).toBeNull();
    const session = { userId: wrong.user_id, sessionEpoch: 0 };
    expect(await resolveSession(services, session).catch(error => error.status)).toBeNull();
    expect((await signIn(email, OWN_PASSWORD))?.id).toBe(right.user_id);
  });

  it('leaves the workspace an administrator if the replaced account was the only one', async () => {
    const lone = await createTestTenant(services, { slug: 'lone' });
    const email = 'sole@example.com';
    const wrong = await join(lone, email, STOLEN_PASSWORD, { tenant_admin: true });
    await call(lone.owner, 'members_update', { user_id: lone.owner.userId, tenant_admin: false });
    const admin = { ...lone.owner, userId: wrong.user_id, email };
    const { token } = (await call(admin, 'invitations_create', { email, role: 'project_viewer' })) as { token: string };
    const right = (await call(null, 'invitations_accept', { token, name: 'P', password: OWN_PASSWORD })) as Accepted;
    const members = (await call(admin, 'members_list')) as { members: object[] };
    expect(members.members).toContainEqual(expect.objectContaining({ user_id: right.user_id, tenant_admin: true }));
  });

  it('joins the same account to a second workspace if the password is the same', async () => {
    const email = 'both@example.com';
    const first = await join(honest, email, OWN_PASSWORD);
    const second = await join(evil, email, OWN_PASSWORD);
    expect(second.user_id).toBe(first.user_id);
    expect(await db.prisma.user.count({ where: { email } })).toBe(1);
  });

  it('creates one account for two concurrent acceptances with one password', async () => {
    const email = 'atonce@example.com';
    const tokens = await Promise.all(
      [honest, evil].map(
        async at =>
          ((await call(at.owner, 'invitations_create', { email, role: 'project_viewer' })) as { token: string }).token,
      ),
    );
    const accepted = await Promise.all(
      tokens.map(
        token => call(null, 'invitations_accept', { token, name: 'P', password: OWN_PASSWORD }) as Promise<Accepted>,
      ),
    );
    expect(accepted[0]?.user_id).toBe(accepted[1]?.user_id);
    expect(await db.prisma.user.count({ where: { email } })).toBe(1);
  });
});
