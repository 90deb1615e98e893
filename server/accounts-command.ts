import { parseArgs } from 'node:util';
import { type CommandServices, explainRefusal, type Outcome, runCommandLine, runOnDatabase } from './command-line.ts';
import { issueResetLink } from './domains/identity/password-reset.ts';
import { Email } from './domains/identity/schemas.ts';
import { isoTimestamp } from './platform/clock.ts';
import { notFound } from './platform/errors.ts';

/**
 * `npm run accounts`: lists accounts, and makes a link that resets a password (docs/operations.md). It works beside a running server
 * or without one. Exit code 0 when it is done, 1 when it could not be done.
 */
const USAGE = `npm run accounts -- list [<email>] [--json]
npm run accounts -- reset-password <email> [--json]

  list             every account, or those of one address, with their workspaces
  reset-password   prints a link that sets a new password once, within a day. Hand it to the person the address belongs to:
                   whoever uses it gets the address and every workspace of its accounts`;

/** Runs one command. TypeError for arguments that cannot be used, AppError 404 for an address without an account. */
export async function runAccountsCommand(services: CommandServices, args: readonly string[]): Promise<Outcome> {
  const { positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean' } },
  });
  const [command, address, ...more] = positionals;
  if (more.length > 0) throw new TypeError(`One address at a time: what is "${more[0]}"?`);
  const email = Email.safeParse(address).data;
  if (address !== undefined && email === undefined) throw new TypeError(`Not an email address: ${address}.`);
  if (command === 'list') return list(services, email);
  if (command !== 'reset-password') throw new TypeError('Say whether to list or to reset-password.');
  if (email === undefined) throw new TypeError('Missing: the email address of the account.');
  return resetPassword(services, email);
}

async function list({ prisma }: CommandServices, email: string | undefined): Promise<Outcome> {
  const rows = await prisma.user.findMany({
    where: { replacedAt: null, ...(email === undefined ? {} : { email }) },
    include: { memberships: { orderBy: { tenantId: 'asc' } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  const accounts = rows.map(row => ({
    user_id: row.id,
    email: row.email,
    name: row.name,
    confirmed: row.confirmedAt !== null,
    created_at: isoTimestamp(row.createdAt.getTime()),
    workspaces: row.memberships.map(({ tenantId, tenantAdmin }) => ({ slug: tenantId, tenant_admin: tenantAdmin })),
  }));
  const lines = accounts.map(({ email: address, name, confirmed, created_at, workspaces }) => {
    const places = workspaces.map(({ slug, tenant_admin }) => (tenant_admin ? `${slug} (admin)` : slug)).join(', ');
    const state = confirmed ? 'confirmed' : 'not confirmed';
    return `${address}  "${name}"  ${state}  since ${created_at.slice(0, 10)}  workspaces: ${places || 'none'}`;
  });
  return { value: { accounts }, text: lines.join('\n') || 'There is no such account.' };
}

async function resetPassword(services: CommandServices, email: string): Promise<Outcome> {
  const link = await issueResetLink(services, { email, baseUrl: services.baseUrl });
  if (link === null) throw notFound(`An account with the address ${email}`);
  const expires = isoTimestamp(link.expiresAt);
  return {
    value: { email, url: link.url, expires_at: expires },
    text: `A new password for ${email} can be set once, until ${expires}, at\n${link.url}\nHand the link only to the person the address belongs to.`,
  };
}

/** What the database has since the migration that this command needs. */
const SCHEMA = `to_regclass('account_tokens') IS NOT NULL`;

if (import.meta.main)
  await runCommandLine(args => runOnDatabase(args, SCHEMA, runAccountsCommand), explainRefusal(USAGE));
