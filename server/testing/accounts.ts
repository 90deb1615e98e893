import { identityOperations } from '../domains/identity/operations.ts';
import { verifyPassword } from '../domains/identity/sign-in.ts';
import { ManualClock } from '../platform/clock.ts';
import { createCall } from './call.ts';
import { createTestServices, createTestTenant, type TestTenant, testConfig } from './identity.ts';
import { createTestDatabase } from './postgres.ts';

export const STOLEN_PASSWORD = 'the password of the inviter';
export const OWN_PASSWORD = 'the password of the person';

export type Accepted = { user_id: string; tenant_id: string; email: string };
export type AccountWorld = Awaited<ReturnType<typeof createAccountWorld>>;

/** Creates two workspaces, identity's operations, and a separate clock; `settings` are environment variables. */
export async function createAccountWorld(settings: Record<string, string> = {}) {
  const db = await createTestDatabase();
  const clock = new ManualClock();
  const services = createTestServices(db, { clock, config: testConfig(settings) });
  const call = createCall(services, identityOperations);
  return {
    db,
    clock,
    services,
    call,
    honest: await createTestTenant(services, { slug: 'honest' }),
    evil: await createTestTenant(services, { slug: 'evil' }),
    /** Invites an address into a workspace and accepts the invitation; `more` are further fields of the invitation. */
    async join(at: TestTenant, email: string, password: string, more: object = {}) {
      const invitation = { email, role: 'project_viewer', ...more };
      const { token } = (await call(at.owner, 'invitations_create', invitation)) as { token: string };
      const accepted = await call(null, 'invitations_accept', { token, name: 'Person', password });
      return accepted as Accepted;
    },
    signIn: (email: string, password: string) => verifyPassword(services, { email, password, address: '192.0.2.1' }),
    async close() {
      services.mail?.close();
      await db.close();
    },
  };
}
