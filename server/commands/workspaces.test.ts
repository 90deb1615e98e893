import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveSession } from '../domains/identity/principal.ts';
import { verifyPassword } from '../domains/identity/sign-in.ts';
import type { Services } from '../operation/services.ts';
import { runBaton, runCommand } from '../testing/commands.ts';
import { createTestServices, createTestTenant } from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';
import { UsageError } from './command-line.ts';
import { declareWorkspaces } from './workspaces.ts';

let db: TestDatabase;
let services: Services;

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db);
  await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());

const run = (...args: string[]) => runCommand(declareWorkspaces, services, args);
const workspaces = (...args: string[]) =>
  runBaton(['workspaces', ...args], { DATABASE_URL: db.url, BATON_SIGN_UP: 'off' });

test('creates a workspace for an existing account, and lists all, independently of BATON_SIGN_UP', async () => {
  const created = await workspaces('create', 'north', '--owner', 'Viewer@acme.example.com', '--name', 'North Ltd');
  expect(created).toEqual({
    code: 0,
    err: '',
    out: 'Created the workspace north ("North Ltd"), administered by viewer@acme.example.com.\nviewer@acme.example.com has an account already and keeps its password.\n',
  });
  const { value, text } = await run('list');
  expect(text).toMatch(/^north {2}"North Ltd" {2}since .* members: 1 .* administrators: viewer@acme\.example\.com$/m);
  expect(value).toMatchObject({
    workspaces: [
      { slug: 'acme', members: 3, administrators: ['owner@acme.example.com'] },
      { slug: 'north', members: 1, projects: 1 },
    ],
  });
});

test('creates a missing account, with a password that signs in', async () => {
  const { value } = await run('create', 'south', '--owner', 'ann@south.example.com');
  expect(value).toMatchObject({ slug: 'south', name: 'south', account_created: true });
  const { password } = value as { password: string };
  const signedIn = await verifyPassword(services, { email: 'ann@south.example.com', password, address: '192.0.2.1' });
  expect(signedIn).toMatchObject({ name: 'ann' });
  const session = { userId: String(signedIn?.id), sessionEpoch: 0 };
  expect(await resolveSession(services, session)).toMatchObject({ tenantId: 'south', role: 'tenant_admin' });
});

test('refuses invalid requests, and leaves nothing incomplete', async () => {
  for (const args of [
    ['delete', 'acme'],
    ['list', 'acme'],
    ['list', '--owner', 'a@example.com'],
    ['create', '--owner', 'a@example.com'],
    ['create', 'East', '--owner', 'a@example.com'],
    ['create', 'east'],
    ['create', 'east', '--owner', 'ann'],
    ['create', 'east', 'west', '--owner', 'a@example.com'],
    ['create', 'east', '--owner', 'a@example.com', '--name', ' '],
    ['create', 'east', '--colour', 'red'],
  ])
    await expect(run(...args), args.join(' ')).rejects.toBeInstanceOf(UsageError);
  await expect(run('create', 'acme', '--owner', 'new@example.com')).rejects.toMatchObject({
    status: 409,
    code: 'workspace_slug_taken',
  });
  expect(await db.prisma.user.findFirst({ where: { email: 'new@example.com' } })).toBeNull();
  const refused = await workspaces('create', 'acme', '--owner', 'new@example.com');
  expect(refused).toEqual({ code: 1, out: '', err: 'baton: A workspace with this slug already exists.\n' });
});
