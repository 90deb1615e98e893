import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { explainArguments, requireSchema, runCommandLine } from './command-line.ts';
import { codesCommand, codesUsage } from './domains/billing/codes/command.ts';
import { auditCommand, auditUsage } from './domains/billing/ledger/audit-command.ts';
import {
  type Command,
  type CommandOutcome,
  type CommandServices,
  describeRefusal,
  done,
} from './domains/billing/operator-command.ts';
import { creditsCommand, creditsUsage, paymentsCommand, paymentsUsage } from './domains/billing/payments/command.ts';
import { readCatalogue } from './domains/billing/plans/catalogue.ts';
import { plansCommand, plansUsage } from './domains/billing/plans/command.ts';
import { seedPlans } from './domains/billing/plans/store.ts';
import { createManualProvider } from './domains/billing/provider/manual.ts';
import { createStripeProvider, isStripe } from './domains/billing/provider/stripe/provider.ts';
import { reconcile } from './domains/billing/provider/stripe/reconcile.ts';
import { tenantCommand, tenantUsage } from './domains/billing/subscriptions/command.ts';
import { loadConfig } from './load-config.ts';
import { systemClock } from './platform/clock.ts';
import { AppError } from './platform/errors.ts';
import { createLogger } from './platform/logger.ts';
import { reachDatabase } from './platform/postgres/running.ts';

/**
 * `npm run billing -- …`: what operators do with plans, payments, credits and codes, beside a running server or without one
 * (docs/billing.md). Exit code 0 when it is done, 1 when it could not be done or the books differ.
 */
const reconcileUsage = 'npm run billing -- reconcile [--since 2026-11-01]';
const USAGE = [plansUsage, paymentsUsage, creditsUsage, tenantUsage, codesUsage, auditUsage, reconcileUsage].join(
  '\n\n',
);

const reconcileCommand: Command = async (services, args) => {
  const { values } = parseArgs({ args: [...args], options: { since: { type: 'string' } } });
  const since = values.since === undefined ? undefined : Date.parse(values.since);
  if (since !== undefined && Number.isNaN(since)) throw new TypeError(`--since is a date, not "${values.since}".`);
  const { payments } = services;
  if (!isStripe(payments)) return done('Payments are confirmed by hand here: there is nothing to compare.');
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const { events, subscriptions, payments: paid } = await reconcile(services, payments.account, { since, print });
  return done(
    [
      ...lines,
      `Events: ${events.listed} listed, ${events.missed} missed, ${events.applied} applied.`,
      `Subscriptions: ${subscriptions.compared} compared, ${subscriptions.corrected} corrected.`,
      `Payments: ${paid.compared} compared, ${paid.corrected} corrected, ${paid.unknown} unknown to Stripe.`,
    ].join('\n'),
  );
};

const commands: Readonly<Record<string, Command>> = {
  plans: plansCommand,
  payments: paymentsCommand,
  credits: creditsCommand,
  tenant: tenantCommand,
  codes: codesCommand,
  audit: auditCommand,
  reconcile: reconcileCommand,
  // Said at once, without the group.
  'confirm-payment': (services, args, by) => paymentsCommand(services, ['confirm', ...args], by),
  'cancel-payment': (services, args, by) => paymentsCommand(services, ['cancel', ...args], by),
  'refund-payment': (services, args, by) => paymentsCommand(services, ['refund', ...args], by),
};

/** Runs one command. TypeError where there is none of that name, or for its arguments; AppError for what cannot be done. */
export function runCommand(services: CommandServices, args: readonly string[], by: string): Promise<CommandOutcome> {
  const [name, ...rest] = args;
  return commandNamed(name)(services, rest, by);
}

function commandNamed(name = ''): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined)
    throw new TypeError(name === '' ? 'What is to be done?' : `There is no command "${name}".`);
  return command;
}

async function main(args: readonly string[]): Promise<number> {
  commandNamed(args[0]);
  const config = loadConfig();
  const logger = createLogger('silent');
  const database = await reachDatabase(config.database, logger);
  const pool = new pg.Pool({ connectionString: database.url, max: 4, connectionTimeoutMillis: 10_000 });
  try {
    await checkSchema(pool, config);
    const services = openServices(config, pool);
    const { code, text } = await runCommand(services, args, `operator:${userInfo().username}`);
    process.stdout.write(`${text}\n`);
    await services.payments.close();
    return code;
  } finally {
    await pool.end();
    await database.close();
  }
}

function openServices(config: CommandServices['config'], pool: pg.Pool): CommandServices {
  const logger = createLogger('silent');
  const clock = systemClock;
  const { stripe } = config.billing;
  const absent = () => {
    throw new Error('The operator command has no engine.');
  };
  return {
    config,
    pool,
    clock,
    logger,
    topUp: readCatalogue(config.billing).topUp,
    payments: stripe ? createStripeProvider({ config, clock, logger, pool }, stripe) : createManualProvider({ clock }),
    orchestrator: {
      start: absent,
      reject: absent,
      command: absent,
      completeTask: absent,
      subscribe: absent,
      status: () => 'stopped',
      unavailableReason: () => null,
      // A running server looks for what others changed every few seconds.
      creditsChanged: () => undefined,
    },
  };
}

/** Whether the database has billing, and the plans of the catalogue: a server may never have run since the upgrade. */
async function checkSchema(pool: pg.Pool, { billing }: Pick<CommandServices['config'], 'billing'>): Promise<void> {
  await requireSchema(pool, `to_regclass('credit_ledger') IS NOT NULL`);
  await seedPlans(pool, readCatalogue(billing), systemClock.now());
}

const explain = (error: unknown) =>
  error instanceof AppError ? describeRefusal(error) : explainArguments(USAGE)(error);

if (import.meta.main) await runCommandLine(main, explain);
