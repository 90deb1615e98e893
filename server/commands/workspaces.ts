import type { Command } from '@commander-js/extra-typings';
import { createUser, readAccounts } from '../domains/identity/account-store.ts';
import { lockAddress } from '../domains/identity/lock-queries.ts';
import { PersonName, TenantSlug, WorkspaceName } from '../domains/identity/schemas.ts';
import { readAllWorkspaces } from '../domains/identity/workspace-store.ts';
import { createWorkspaceRows, refuseTakenSlug } from '../domains/identity/workspaces.ts';
import { randomToken } from '../platform/crypto/digest.ts';
import { hashPassword } from '../platform/crypto/password.ts';
import { conflict } from '../platform/errors.ts';
import { transact } from '../platform/postgres/transaction.ts';
import { readAs, readEmail } from './arguments.ts';
import { type Outcome, operatorCommand, type Run } from './command-line.ts';
import { type DatabaseServices, openDatabase } from './open-database.ts';

const SLUG = '1 to 63 lower-case letters, digits and hyphens';

type WorkspaceServices = Pick<DatabaseServices, 'prisma' | 'clock'>;
type NewWorkspace = { slug: string; name: string; email: string; ownerName: string | undefined };

/**
 * Declares `workspaces`: creates a workspace, or lists all of them, independently of BATON_SIGN_UP
 * (docs/operations.md). AppError 409 for a slug that is taken, and for an unconfirmed owner.
 */
export function declareWorkspaces(command: Command, run: Run<WorkspaceServices>): void {
  command
    .command('list')
    .description('list every workspace')
    .option('--json', 'print one JSON document')
    .action(options => run(list, options));
  command
    .command('create')
    .description('create a workspace')
    .argument('<slug>', SLUG, readAs(TenantSlug, `It takes ${SLUG}.`))
    .requiredOption(
      '--owner <email>',
      'who administers the workspace; an email without an account gets one, with a password that is printed once',
      readEmail,
    )
    .option('--name <name>', 'default: the slug', readAs(WorkspaceName))
    .option('--owner-name <name>', 'of a new account; default: the part of the email before the @', readAs(PersonName))
    .option('--json', 'print one JSON document')
    .action((slug, { owner, name, ownerName, json }) =>
      run(services => create(services, { slug, name: name ?? slug, email: owner, ownerName }), { json }),
    );
}

async function list(services: WorkspaceServices): Promise<Outcome> {
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

/** The part before the @, cut to the maximum length of a name. */
const nameOf = (email: string) => (email.split('@')[0] ?? '').slice(0, 120);

async function create(
  services: WorkspaceServices,
  { slug, name, email, ownerName = nameOf(email) }: NewWorkspace,
): Promise<Outcome> {
  const wanted = { slug, name };
  const password = randomToken(15);
  const passwordHash = await hashPassword(password);
  const at = new Date(services.clock.now());
  const isNew = await transact(services, async tx => {
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

/** The account gets no role, because its owner has not confirmed that the address is theirs. */
const unconfirmed = (email: string) =>
  conflict(
    'account_not_confirmed',
    `${email} has an account that is not confirmed. Run "npm run baton -- accounts reset-password ${email}", hand the link to the person, and create the workspace when they have used it.`,
  );

/** True once the migration that this command needs has run. */
const SCHEMA = `EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'tenants' AND column_name = 'created_by')`;

export const workspaces = operatorCommand(declareWorkspaces, openDatabase(SCHEMA));
