import type { Command } from '@commander-js/extra-typings';
import { findClockDoubt } from '../domains/retention/clock.ts';
import { recordTrustedClock } from '../domains/retention/clock-store.ts';
import { planRetention, type RetentionPlan } from '../domains/retention/plan.ts';
import { type Cutoffs, cutoffsAt, type RetentionPolicy } from '../domains/retention/policy.ts';
import { SESSION } from '../domains/retention/session.ts';
import { type RetentionResult, sweep } from '../domains/retention/sweep.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { createLogger } from '../platform/logger.ts';
import { type DatabaseClock, readDatabaseClock } from '../platform/postgres/database-clock.ts';
import { inOwnSession } from '../platform/postgres/own-session.ts';
import { reachDatabase } from '../platform/postgres/running.ts';
import { StartupError } from '../platform/postgres/startup-error.ts';
import type { Queryable } from '../platform/postgres/transaction.ts';
import { loadConfig } from '../process/load-config.ts';
import { readDays } from './arguments.ts';
import { type Outcome, operatorCommand, type Run } from './command-line.ts';
import { createCommandPool, requireSchema } from './open-database.ts';

type RetentionServices = { url: string; policy: RetentionPolicy; clock: Clock };

/**
 * Declares `retention`: runs the daily retention job now; with --dry-run it only shows what the job would delete. Exit code 0 if
 * everything was deleted, 75 (try again) if something was left for later.
 */
export function declareRetention(command: Command, run: Run<RetentionServices>): void {
  command
    .option('--dry-run', 'show what would be deleted, and change nothing')
    .option(
      '--older-than <days>',
      'runs that ended longer ago than this (30d), instead of BATON_RETENTION_DAYS',
      readDays,
    )
    .option('--accept-clock', "trust this machine's clock, although it jumped or differs from the database's")
    .option('--json', 'print one JSON document')
    .action(({ dryRun, olderThan, acceptClock = false, json }) =>
      run(
        services => {
          const policy = { ...services.policy, runDays: olderThan ?? services.policy.runDays };
          const now = services.clock.now();
          const cutoffs = cutoffsAt(policy, now);
          return dryRun ? plan(services.url, cutoffs, now) : letGo(services.url, cutoffs, { now, acceptClock });
        },
        { json },
      ),
    );
}

const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const plural = (count: number, what: string) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

function scope({ runs, usage, audit }: Cutoffs): string[] {
  return [
    runs === null ? 'Runs are kept forever.' : `Runs that ended before ${day(runs)}, by whole months:`,
    ...(usage === null ? [] : [`Usage before ${day(usage)}.`]),
    ...(audit === null ? [] : [`Entries of the audit log before ${day(audit)}.`]),
  ];
}

/** Returns a plan as text. */
function describePlan(plan: RetentionPlan): string {
  const partitions = plan.partitions.map(({ name, action, bytes, keepsRuns }) => {
    const kept = action === 'rewrite' ? `, without ${plural(keepsRuns, 'run')} that it keeps` : '';
    return `  ${action === 'drop' ? 'drop   ' : 'rewrite'}  ${name}  ${megabytes(bytes)}${kept}`;
  });
  const rest = [
    plural(plan.runs, 'run'),
    plural(plan.rejections, 'refused start'),
    `${plural(plan.strayUsage, 'row')} of usage outside of partitions`,
    `${plan.auditEntries} of the audit log`,
    plural(plan.notifications, 'notification'),
    `${megabytes(plan.bytes)} in all`,
  ];
  return [...scope(plan.cutoffs), ...partitions, `  ${rest.join(', ')}.`, 'Nothing was changed.'].join('\n');
}

/** Returns a result as text. */
function describeResult(result: RetentionResult, cutoffs: Cutoffs): string {
  if (result.busy) return 'Retention is already running in another process: nothing was done.';
  return [
    ...scope(cutoffs),
    ...result.dropped.map(name => `  dropped    ${name}`),
    ...result.rewritten.map(name => `  rewritten  ${name}`),
    ...result.postponed.map(({ name, reason: why }) => `  for later  ${name} (${why})`),
    `  ${plural(result.runs, 'run')}, ${plural(result.rejections, 'refused start')}, ${plural(result.snapshots, 'snapshot')} of test runs, ${result.auditEntries} of the audit log, ${plural(result.notifications, 'notification')} deleted.`,
  ].join('\n');
}

async function plan(url: string, cutoffs: Cutoffs, now: number): Promise<Outcome> {
  const planned = await planRetention(url, cutoffs, now);
  const doubt = await inOwnSession(url, SESSION, client => findClockDoubt(client, now, readDatabaseClock));
  const refused = doubt === null ? '' : `\nWithout --accept-clock nothing would be deleted: ${doubt}.`;
  return { value: { ...planned, clockDoubt: doubt }, text: `${describePlan(planned)}${refused}` };
}

async function letGo(
  url: string,
  cutoffs: Cutoffs,
  { now, acceptClock }: { now: number; acceptClock: boolean },
): Promise<Outcome> {
  await inOwnSession(url, SESSION, client => trustClock(client, now, acceptClock));
  const logger = createLogger('silent');
  const result = await sweep({ url, logger, cutoffs, now, pause: async () => undefined });
  const code = result.busy || result.postponed.length > 0 ? 75 : 0;
  return { value: result, text: describeResult(result, cutoffs), code };
}

/** Throws StartupError if the clock seems wrong and the operator has not confirmed that it is right. */
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
  await recordTrustedClock(db, now, accepted);
}

export const retention = operatorCommand(declareRetention, async work => {
  const config = loadConfig();
  const database = await reachDatabase(config.database, createLogger('silent'));
  try {
    const pool = createCommandPool(database.url, { max: 1 });
    await requireSchema(pool, `to_regclass('retention_progress') IS NOT NULL`).finally(() => pool.end());
    return await work({ url: database.url, policy: config.retention, clock: systemClock });
  } finally {
    await database.close();
  }
});
