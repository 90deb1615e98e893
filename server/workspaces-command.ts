import { parseArgs } from 'node:util';
import { PrismaPg } from '@prisma/adapter-pg';
import { ConfigError } from './config.ts';
import { createUser } from './domains/identity/accounts.ts';
import { Email, PersonName, TenantSlug, WorkspaceName } from './domains/identity/schemas.ts';
import { inTransaction } from './domains/identity/transaction.ts';
import { createWorkspaceRows, readAllWorkspaces, refuseTakenSlug } from './domains/identity/workspaces.ts';
import { loadConfig } from './load-config.ts';
import { systemClock } from './platform/clock.ts';
import { randomToken } from './platform/crypto/digest.ts';
import { hashPassword } from './platform/crypto/password.ts';
import { AppError } from './platform/errors.ts';
import { createLogger } from './platform/logger.ts';
import { createPool } from './platform/postgres/database.ts';
import { PrismaClient } from './platform/postgres/generated/client.ts';
import { reachDatabase } from './platform/postgres/running.ts';
import { reason, StartupError } from './platform/postgres/startup-error.ts';
import type { Services } from './services.ts';

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
type Outcome = { value: unknown; text: string };

const options = {
  json: { type: 'boolean' },
  owner: { type: 'string' },
  name: { type: 'string' },
  'owner-name': { type: 'string' },
} as const;

type Arguments = { positionals: string[]; values: ReturnType<typeof parse>['values'] };
const parse = (args: readonly string[]) => parseArgs({ args: [...args], allowPositionals: true, options });

/** Runs one command. TypeError for arguments that cannot be used, AppError 409 for a slug that is taken. */
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
    const present = await tx.user.findUnique({ where: { email }, select: { id: true } });
    const userId = present?.id ?? (await createUser(tx, { email, name: ownerName, passwordHash }, at));
    await createWorkspaceRows(tx, wanted, { userId, at });
    return present === null;
  }).catch(refuseTakenSlug);
  const account = isNew
    ? `The account ${email} is new. Its password, shown this once: ${password}`
    : `${email} has an account already and keeps its password.`;
  return {
    value: { ...wanted, owner: email, account_created: isNew, ...(isNew ? { password } : {}) },
    text: `Created the workspace ${wanted.slug} ("${wanted.name}"), administered by ${email}.\n${account}`,
  };
}

function valid<T>(schema: { safeParse(value: unknown): { data?: T } }, value: unknown, what: string): T {
  const { data } = schema.safeParse(value);
  if (data === undefined) throw new TypeError(`${value === undefined ? 'Missing' : 'Not valid'}: ${what}.`);
  return data;
}

async function main(args: readonly string[]): Promise<void> {
  const config = loadConfig();
  const logger = createLogger('silent');
  const database = await reachDatabase(config.database, logger);
  const pool = createPool(database.url, 4, logger);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  try {
    await checkSchema(pool);
    const { value, text } = await runWorkspacesCommand({ prisma, clock: systemClock }, args);
    process.stdout.write(`${args.includes('--json') ? JSON.stringify(value, null, 2) : text}\n`);
  } finally {
    await prisma.$disconnect();
    await pool.end();
    await database.close();
  }
}

async function checkSchema(pool: Services['pool']): Promise<void> {
  const { rows } = await pool
    .query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'tenants' AND column_name = 'created_by') AS found`,
    )
    .catch(cause => {
      throw new StartupError(`The database cannot be reached: ${reason(cause)}`, { cause });
    });
  if (!rows[0]?.found) throw new StartupError('The database is of an older Baton: start this one once, to migrate it.');
}

/** What an operator can act on; anything else is a defect and keeps its stack. */
function explain(error: unknown): string {
  if (error instanceof AppError || error instanceof StartupError || error instanceof ConfigError) return error.message;
  if (error instanceof TypeError) return `${error.message}\n\n${USAGE}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`baton: ${explain(error)}\n`);
    process.exitCode = 1;
  }
}
