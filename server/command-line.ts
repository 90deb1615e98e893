import { PrismaPg } from '@prisma/adapter-pg';
import { ConfigError } from './contract/config.ts';
import type { Services } from './contract/services.ts';
import { loadConfig } from './load-config.ts';
import { systemClock } from './platform/clock.ts';
import { AppError } from './platform/errors.ts';
import { createLogger } from './platform/logger.ts';
import { createPool } from './platform/postgres/database.ts';
import { PrismaClient } from './platform/postgres/generated/client.ts';
import { reachDatabase } from './platform/postgres/running.ts';
import { reason, StartupError } from './platform/postgres/startup-error.ts';

/** What the commands of an operator (`server/*-command.ts`) share: how they reach the database, and how they end. */

export type CommandServices = Pick<Services, 'prisma' | 'clock'> & { baseUrl: string };
/** What a command says: with `--json` as one document. */
export type Outcome = { value: unknown; text: string };

/**
 * Runs a command with the arguments of this process and sets its exit code: what `main` returns, or 1 with one line on
 * standard error. `explain` says what an operator can act on besides what a start says; anything else is a defect and keeps its stack.
 */
export async function runCommandLine(
  main: (args: readonly string[]) => Promise<number>,
  explain: (error: unknown) => string | undefined = () => undefined,
): Promise<void> {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`baton: ${explain(error) ?? explainStart(error)}\n`);
    process.exitCode = 1;
  }
}

function explainStart(error: unknown): string {
  if (error instanceof StartupError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Refusals in their own words, and arguments that cannot be used (TypeError) with the usage. */
export const explainRefusal = (usage: string) => (error: unknown) => {
  if (error instanceof AppError) return error.message;
  return explainArguments(usage)(error);
};

export const explainArguments = (usage: string) => (error: unknown) =>
  error instanceof TypeError ? `${error.message}\n\n${usage}` : undefined;

/** Throws StartupError where `found`, an SQL expression, is false: the database was not migrated by this version yet. */
export async function requireSchema(pool: Services['pool'], found: string): Promise<void> {
  const { rows } = await pool.query<{ found: boolean }>(`SELECT ${found} AS found`).catch(cause => {
    throw new StartupError(`The database cannot be reached: ${reason(cause)}`, { cause });
  });
  if (!rows[0]?.found) throw new StartupError('The database is of an older Baton: start this one once, to migrate it.');
}

/** Runs `command` on the database of the configuration, beside a running server or without one, and prints what it says. */
export async function runOnDatabase(
  args: readonly string[],
  schema: string,
  command: (services: CommandServices, args: readonly string[]) => Promise<Outcome>,
): Promise<number> {
  const config = loadConfig();
  const logger = createLogger('silent');
  const database = await reachDatabase(config.database, logger);
  const pool = createPool(database.url, 4, logger);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  try {
    await requireSchema(pool, schema);
    const { value, text } = await command({ prisma, clock: systemClock, baseUrl: config.http.url }, args);
    process.stdout.write(`${args.includes('--json') ? JSON.stringify(value, null, 2) : text}\n`);
    return 0;
  } finally {
    await prisma.$disconnect();
    await pool.end();
    await database.close();
  }
}
