import type { Command } from '@commander-js/extra-typings';
import { readAllAccounts } from '../domains/identity/account-store.ts';
import { issueResetLink } from '../domains/identity/password-reset.ts';
import { unlinkAddress } from '../domains/identity/sign-on/unlink.ts';
import { isoTimestamp } from '../platform/clock.ts';
import { notFound } from '../platform/errors.ts';
import { readEmail } from './arguments.ts';
import { type Outcome, operatorCommand, type Run } from './command-line.ts';
import { type DatabaseServices, openDatabase } from './open-database.ts';

/** Declares `accounts`: lists accounts, makes a link that resets a password (docs/operations.md), and unlinks from single sign-on. AppError 404 for an address without an account. */
function declareAccounts(command: Command, run: Run<DatabaseServices>): void {
  command
    .command('list')
    .description('list every account, or those of one address, with their workspaces')
    .argument('[email]', 'the address', readEmail)
    .option('--json', 'print one JSON document')
    .action((email, options) => run(services => list(services, email), options));
  command
    .command('reset-password')
    .description(
      'print a link that sets a new password once, within a day; give it to the owner of the address: it grants access to the address and every workspace of its accounts',
    )
    .argument('<email>', 'the address', readEmail)
    .option('--json', 'print one JSON document')
    .action((email, options) => run(services => resetPassword(services, email), options));
  command
    .command('unlink')
    .description(
      'let another person of the single sign-on provider sign in to the account of an address, and end its sessions',
    )
    .argument('<email>', 'the address', readEmail)
    .option('--json', 'print one JSON document')
    .action((email, options) => run(services => unlink(services, email), options));
}

async function list({ prisma }: DatabaseServices, email: string | undefined): Promise<Outcome> {
  const rows = await readAllAccounts(prisma, email);
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
  return { value: { accounts }, text: lines.join('\n') || 'This account does not exist.' };
}

async function resetPassword(services: DatabaseServices, email: string): Promise<Outcome> {
  const link = await issueResetLink(services, { email, baseUrl: services.baseUrl });
  if (link === null) throw notFound(`An account with the address ${email}`);
  const expires = isoTimestamp(link.expiresAt);
  return {
    value: { email, url: link.url, expires_at: expires },
    text: `A new password for ${email} can be set once, until ${expires}, at\n${link.url}\nGive the link only to the person to whom the address belongs.`,
  };
}

async function unlink(services: DatabaseServices, email: string): Promise<Outcome> {
  if (!(await unlinkAddress(services, email)))
    throw notFound(`An account with single sign-on and the address ${email}`);
  const text = `The account of ${email} is unlinked, and its sessions have ended. The next verified sign-in with the address links it again.`;
  return { value: { email, unlinked: true }, text };
}

/** True once the migration that this command needs has run. */
const SCHEMA = `to_regclass('sign_on_identities') IS NOT NULL`;

export const accounts = operatorCommand(declareAccounts, openDatabase(SCHEMA));
