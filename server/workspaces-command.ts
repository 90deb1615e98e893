import { parseArgs } from 'node:util';
import { explainRefusal, type Outcome, runCommandLine, runOnDatabase } from './command-line.ts';
import type { Services } from './contract/services.ts';
import { createUser } from './domains/identity/accounts.ts';
import { lockAddress, readAccounts } from './domains/identity/address-accounts.ts';
import { Email, PersonName, TenantSlug, WorkspaceName } from './domains/identity/schemas.ts';
import { inTransaction } from './domains/identity/transaction.ts';
import { createWorkspaceRows, readAllWorkspaces, refuseTakenSlug } from './domains/identity/workspaces.ts';
import { randomToken } from './platform/crypto/digest.ts';
import { hashPassword } from './platform/crypto/password.ts';
import { conflict } from './platform/errors.ts';

/**
 * `npm run workspaces`: creates a workspace, or lists all of them, whatever BATON_SIGN_UP says (docs/operations.md). It works beside a
 * running server or without one. Exit code 0 when it is done, 1 when it could not be done.
 */
const USAGE = `npm run workspaces -- list [--json]
npm run workspaces -- create <slug> --owner <email> [--name <name>] [--owner-name <name>] [--json]

  --owner ann@acme.com   administers the workspace; an email without an account gets one, with a password that is printed once
  --name "Acme Ltd"      default: the slug
  --owner-name "Ann"     of a new account; default: what stands before the @
  --json                 one JSON document on standard output`;

type CommandServices = Pick<Services, 'prisma' | 'clock'>;

const options = {
  json: { type: 'boolean' },
  owner: { type: 'string' },
  name: { type: 'string' },
  'owner-name': { type: 'string' },
} as const;

type Arguments = { positionals: string[]; values: ReturnType<typeof parse>['values'] };
const parse = (args: readonly string[]) => parseArgs({ args: [...args], allowPositionals: true, options });

/** Runs one command. TypeError for arguments that cannot be used, AppError 409 for a slug that is taken, and an unconfirmed owner. */
export async function runWorkspacesCommand(services: CommandServices, args: readonly string[]): Promise<Outcome> {
  const { positionals, values } = parse(args);
  const [command, ...rest] = positionals;
  if (command === 'create') return create(services, { positionals: rest, values });
  if (command !== 'list' || rest.length > 0) throw new TypeError('Say whether to list or to create.');
  if (values.owner ?? values.name ?? values['owner-name']) throw new TypeError('list takes --json alone.');
  return list(services);
}

async function list(services: CommandServices): Promise<Outcome> {
  const workspaces = (await readAllWorkspaces(services)).map(row => ({
    slug: row.slug,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    members: row._count.memberships,
    projects: row._count.projects,
    administrators: row.memberships.map(({ user }) => user.email),
  }));
  const lines = workspaces.map(
    ({ slug, name, created_at, members, projects, administrators }) =>
      `${slug}  "${name}"  since ${created_at.slice(0, 10)}  members: ${members}  projects: ${projects}  administrators: ${administrators.join(', ')}`,
  );
  return { value: { workspaces }, text: lines.join('\n') || 'There is no workspace yet.' };
}

async function create(services: CommandServices, { positionals, values }: Arguments): Promise<Outcome> {
  const [slug, ...more] = positionals;
  if (more.length > 0) throw new TypeError(`create takes one slug: what is "${more[0]}"?`);
  const wanted = {
    slug: valid(TenantSlug, slug, 'the slug: 1 to 63 lower-case letters, digits and hyphens'),
    name: valid(WorkspaceName, values.name ?? slug, '--name'),
  };
  const email = valid(Email, values.owner, '--owner, an email');
  const ownerName = valid(PersonName, values['owner-name'] ?? email.split('@')[0], '--owner-name');
  const password = randomToken(15);
  const passwordHash = await hashPassword(password);
  const at = new Date(services.clock.now());
  const isNew = await inTransaction(services, async tx => {
    await lockAddress(tx, email);
    const [present] = await readAccounts(tx, email);
    if (present && present.confirmedAt === null) throw unconfirmed(email);
    const user = { email, name: ownerName, passwordHash };
    const userId = present?.id ?? (await createUser(tx, user, at, { confirmed: true }));
    await createWorkspaceRows(tx, wanted, { userId, at });
    return !present;
  }).catch(refuseTakenSlug);
  const account = isNew
    ? `The account ${email} is new. Its password, shown this once: ${password}`
    : `${email} has an account already and keeps its password.`;
  return {
    value: { ...wanted, owner: email, account_created: isNew, ...(isNew ? { password } : {}) },
    text: `Created the workspace ${wanted.slug} ("${wanted.name}"), administered by ${email}.\n${account}`,
  };
}

/** Nobody knows whose it is, so it is given nothing. */
const unconfirmed = (email: string) =>
  conflict(
    'account_not_confirmed',
    `${email} has an account that is not confirmed. Run "npm run accounts -- reset-password ${email}", hand the link to the person, and create the workspace when they have used it.`,
  );

function valid<T>(schema: { safeParse(value: unknown): { data?: T } }, value: unknown, what: string): T {
  const { data } = schema.safeParse(value);
  if (data === undefined) throw new TypeError(`${value === undefined ? 'Missing' : 'Not valid'}: ${what}.`);
  return data;
}

/** What the database has since the migration that this command needs. */
const SCHEMA = `EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'tenants' AND column_name = 'created_by')`;

if (import.meta.main)
  await runCommandLine(args => runOnDatabase(args, SCHEMA, runWorkspacesCommand), explainRefusal(USAGE));
