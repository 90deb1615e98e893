import { afterAll, beforeAll, expect, test } from 'vitest';
import { authOptions } from '../../../../app/api/auth/options.ts';
import type { Services } from '../../../operation/services.ts';
import {
  contextFor,
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
  testPassword,
} from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { confirmAddress } from '../confirmation.ts';
import { createConsoleIdentity } from '../console.ts';
import { acceptInvitation } from '../invitations.ts';
import { changePassword } from '../me.ts';
import { requestPasswordReset, resetPassword } from '../password-reset.ts';
import { resolvePat } from '../principal.ts';
import { verifyPassword } from '../sign-in.ts';
import { signUp, signUpStatus } from '../sign-up.ts';

let db: TestDatabase;
let services: Services;
let acme: TestTenant;

beforeAll(async () => {
  db = await createTestDatabase();
  const config = testConfig({
    BATON_OIDC_ISSUER: 'https://login.example.com',
    BATON_OIDC_CLIENT_ID: 'baton',
    BATON_PASSWORD_SIGN_IN: 'off',
    BATON_SIGN_UP: 'open',
  });
  services = createTestServices(db, { config });
  acme = await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());

const password = 'a long pass phrase';
const attempts: [string, () => Promise<unknown>][] = [
  [
    'signing in with a password',
    () => verifyPassword(services, { email: acme.owner.email, password: testPassword, address: '192.0.2.1' }),
  ],
  [
    'changing a password',
    () => changePassword(contextFor(services, acme.owner), { current_password: testPassword, new_password: password }),
  ],
  ['asking for a reset', () => requestPasswordReset(visitor(), { email: acme.owner.email })],
  ['resetting a password', () => resetPassword(visitor(), { token: 'x'.repeat(43), password })],
  ['confirming an address', () => confirmAddress(visitor(), { token: 'x'.repeat(43), password })],
  ['accepting an invitation', () => acceptInvitation(visitor(), { token: 'x'.repeat(43), name: 'New', password })],
  ['signing up', () => signUp(visitor(), { email: 'new@example.com', name: 'New', password, slug: 'new' })],
];
const visitor = () => contextFor(services, acme.viewer, { clientAddress: '192.0.2.1' });

test.each(attempts)('%s is refused', async (_, attempt) => {
  await expect(attempt()).rejects.toMatchObject({ status: 403, code: 'password_sign_in_off' });
});

test('next-auth has no way to sign in, and sign-up is not offered', async () => {
  const keys = { masterKey: Buffer.alloc(32, 7), sessionSecret: 'x' };
  const identity = createConsoleIdentity(services, keys, async () => undefined);
  expect(authOptions(identity).providers).toEqual([]);
  expect(await signUpStatus(visitor())).toEqual({ open: false });
  await identity.signOn?.close();
});

test('tokens stay valid', async () => {
  const { token } = await createTestPat(services, acme.viewer, ['workflow:read']);
  expect(await resolvePat(services, token)).toMatchObject({ userId: acme.viewer.userId });
});
