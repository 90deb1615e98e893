import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityOperations } from '../domains/identity/operations.ts';
import { verifyPassword } from '../domains/identity/sign-in.ts';
import type { Services } from '../operation/services.ts';
import { createCall } from '../testing/call.ts';
import { runBaton } from '../testing/commands.ts';
import { createTestServices, createTestTenant } from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';

const email = 'viewer@acme.example.com';
let db: TestDatabase;
let services: Services;

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db);
  await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());

const accounts = (...args: string[]) =>
  runBaton(['accounts', ...args], { DATABASE_URL: db.url, BATON_URL: 'https://baton.example.com' });

test('prints a link that sets a new password, once', async () => {
  const { code, out, err } = await accounts('reset-password', 'Viewer@acme.example.com');
  expect([code, err]).toEqual([0, '']);
  const token = /^https:\/\/baton\.example\.com\/reset-password#token=([\w-]{43})$/m.exec(out)?.[1];
  const call = createCall(services, identityOperations);
  const password = 'a new password of the viewer';
  expect(await call(null, 'password_resets_complete', { token, password })).toEqual({ email });
  expect(await verifyPassword(services, { email, password, address: '192.0.2.1' })).toMatchObject({ email });
});

test('lists accounts, and says which are confirmed', async () => {
  await db.prisma.user.updateMany({ where: { email: 'owner@acme.example.com' }, data: { confirmedAt: null } });
  const { out } = await accounts('list');
  expect(out.trim().split('\n')).toHaveLength(3);
  expect(out).toMatch(/^viewer@acme\.example\.com {2}"viewer" {2}confirmed {2}since .* workspaces: acme$/m);
  expect(out).toMatch(/^owner@acme\.example\.com {2}"owner" {2}not confirmed {2}since .* workspaces: acme \(admin\)$/m);
  expect(JSON.parse((await accounts('list', email, '--json')).out)).toMatchObject({ accounts: [{ email }] });
});

test('unlinks an account from single sign-on, and ends its sessions', async () => {
  const { id, sessionEpoch } = await db.prisma.user.findFirstOrThrow({ where: { email } });
  const at = new Date();
  const person = { issuer: 'https://login.example.com', subject: 'ada', userId: id, createdAt: at, checkedAt: at };
  await db.prisma.signOnIdentity.create({ data: person });
  const { code, out } = await accounts('unlink', 'Viewer@acme.example.com');
  expect([code, out]).toEqual([0, expect.stringContaining(`The account of ${email} is unlinked`)]);
  expect(await db.prisma.signOnIdentity.count()).toBe(0);
  expect((await db.prisma.user.findUniqueOrThrow({ where: { id } })).sessionEpoch).toBe(sessionEpoch + 1);
});

test.each([
  [['unlink', email], `An account with single sign-on and the address ${email} not found.`],
  [['reset-password', 'nobody@acme.example.com'], 'An account with the address nobody@acme.example.com not found.'],
  [['reset-password'], "missing required argument 'email'\nSee npm run baton -- accounts reset-password --help."],
  [['reset-password', 'nonsense'], 'Not an email address: nonsense.'],
  [['delete', email], "unknown command 'delete'\nSee npm run baton -- accounts --help."],
])('refuses %j', async (args, message) => {
  const { code, out, err } = await accounts(...args);
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain(message);
});
