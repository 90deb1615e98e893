import { parseArgs } from 'node:util';
import pg from 'pg';
import { runCommandLine } from './command-line.ts';
import { findClockDoubt, noteClockTrusted } from './domains/retention/clock.ts';
import { planRetention, type RetentionPlan } from './domains/retention/plan.ts';
import { type Cutoffs, cutoffsAt, type RetentionPolicy } from './domains/retention/policy.ts';
import { SESSION } from './domains/retention/session.ts';
import { type RetentionResult, sweep } from './domains/retention/sweep.ts';
import { loadConfig } from './load-config.ts';
import { systemClock } from './platform/clock.ts';
import { createLogger } from './platform/logger.ts';
import { type DatabaseClock, readDatabaseClock } from './platform/postgres/database-clock.ts';
import { inOwnSession } from './platform/postgres/own-session.ts';
import { reachDatabase } from './platform/postgres/running.ts';
import { reason, StartupError } from './platform/postgres/startup-error.ts';
import type { Queryable } from './platform/postgres/transaction.ts';

/**
 * `npm run retention`: what the daily job does, now; or, with --dry-run, what it would do. Exit code 0 when it is done, 1
 * when it could not run, 75 (try again) when something was left for later.
 */
const USAGE = `npm run retention -- [--dry-run] [--older-than <days>d] [--accept-clock] [--json]

  --dry-run            show what would go, and change nothing
  --older-than 30d     runs that ended longer ago than this, instead of BATON_RETENTION_DAYS
  --accept-clock       trust this machine's clock, although it jumped or differs from the database's
  --json               one JSON document on standard output`;

type Options = { dryRun: boolean; json: boolean; acceptClock: boolean; policy: RetentionPolicy };

/** Throws StartupError for arguments that cannot be used. */
export function readOptions(args: readonly string[], configured: RetentionPolicy): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        'dry-run': { type: 'boolean' },
        json: { type: 'boolean' },
        'older-than': { type: 'string' },
        'accept-clock': { type: 'boolean' },
      },
    });
    const olderThan = values['older-than'];
    const days = olderThan === undefined ? configured.runDays : daysOf(olderThan);
    return {
      dryRun: values['dry-run'] ?? false,
      json: values.json ?? false,
      acceptClock: values['accept-clock'] ?? false,
      policy: { ...configured, runDays: days },
    };
  } catch (error) {
    throw new StartupError(`${reason(error)}\n\n${USAGE}`);
  }
}

function daysOf(text: string): number {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1];
  if (days === undefined) throw new Error(`--older-than takes a number of days such as 30d, not "${text}".`);
  return Number(days);
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const plural = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

function scope({ runs, usage }: Cutoffs): string[] {
  return [
    runs === null ? 'Runs are kept for ever.' : `Runs that ended before ${day(runs)}, by whole months:`,
    ...(usage === null ? [] : [`Usage before ${day(usage)}.`]),
  ];
}

/** A plan as a person reads it. */
export function describePlan(plan: RetentionPlan): string {
  const partitions = plan.partitions.map(({ name, action, bytes, keepsRuns }) => {
    const kept = action === 'rewrite' ? `, without ${plural(keepsRuns, 'run')} that it keeps` : '';
    return `  ${action === 'drop' ? 'drop   ' : 'rewrite'}  ${name}  ${megabytes(bytes)}${kept}`;
  });
  const rest = [
    plural(plan.runs, 'run'),
    plural(plan.rejections, 'refused start'),
    `${plural(plan.strayUsage, 'row')} of usage outside of partitions`,
    `${megabytes(plan.bytes)} in all`,
  ];
  return [...scope(plan.cutoffs), ...partitions, `  ${rest.join(', ')}.`, 'Nothing was changed.'].join('\n');
}

/** A result as a person reads it. */
export function describeResult(result: RetentionResult, cutoffs: Cutoffs): string {
  if (result.busy) return 'Retention is under way already, in another process: nothing was done.';
  return [
    ...scope(cutoffs),
    ...result.dropped.map(name => `  dropped    ${name}`),
    ...result.rewritten.map(name => `  rewritten  ${name}`),
    ...result.postponed.map(({ name, reason: why }) => `  for later  ${name} (${why})`),
    `  ${plural(result.runs, 'run')}, ${plural(result.rejections, 'refused start')} deleted.`,
  ].join('\n');
}

async function main(args: readonly string[]): Promise<number> {
  const config = loadConfig();
  const { dryRun, json, acceptClock, policy } = readOptions(args, config.retention);
  const logger = createLogger('silent');
  const database = await reachDatabase(config.database, logger);
  try {
    await checkSchema(database.url);
    const now = systemClock.now();
    const cutoffs = cutoffsAt(policy, now);
    const print = (value: unknown, text: string) =>
      process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`);
    if (dryRun) {
      const plan = await planRetention(database.url, cutoffs, now);
      const doubt = await inOwnSession(database.url, SESSION, client => findClockDoubt(client, now, readDatabaseClock));
      const refused = doubt === null ? '' : `\nWithout --accept-clock nothing would be deleted: ${doubt}.`;
      print({ ...plan, clockDoubt: doubt }, `${describePlan(plan)}${refused}`);
      return 0;
    }
    await inOwnSession(database.url, SESSION, client => trustClock(client, now, acceptClock));
    const result = await sweep({ url: database.url, logger, cutoffs, now, pause: async () => undefined });
    print(result, describeResult(result, cutoffs));
    return result.busy || result.postponed.length > 0 ? 75 : 0;
  } finally {
    await database.close();
  }
}

/** Throws StartupError where the clock must not be trusted and the operator has not said that it may. */
export async function trustClock(
  db: Queryable,
  now: number,
  accepted: boolean,
  databaseClock: DatabaseClock = readDatabaseClock,
): Promise<void> {
  const doubt = accepted ? null : await findClockDoubt(db, now, databaseClock);
  if (doubt !== null) {
    throw new StartupError(
      `Nothing was deleted: ${doubt}. If this machine's clock is right, run the command again with --accept-clock.`,
    );
  }
  await noteClockTrusted(db, now, accepted);
}

async function checkSchema(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ found: boolean }>(
      `SELECT to_regclass('retention_progress') IS NOT NULL AS found`,
    );
    if (!rows[0]?.found)
      throw new StartupError('The database is of an older Baton: start this one once, to migrate it.');
  } catch (cause) {
    if (cause instanceof StartupError) throw cause;
    throw new StartupError(`The database cannot be reached: ${reason(cause)}`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}

if (import.meta.main) await runCommandLine(main);
