import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { check } from '../domains/analytics/check.ts';
import type { Difference } from '../domains/analytics/comparison-store.ts';
import { rebuild } from '../domains/analytics/rebuild.ts';
import { createLogger } from '../platform/logger.ts';
import { reachDatabase } from '../platform/postgres/running.ts';
import { StartupError } from '../platform/postgres/startup-error.ts';
import { loadConfig } from '../process/load-config.ts';
import { readAs } from './arguments.ts';
import { type Outcome, operatorCommand, type Run } from './command-line.ts';

/** The maximum number of differences that are printed. */
const MAX_DIFFERENCES = 200;

/**
 * Declares `analytics`: recomputes the rollups that analytics read, or compares them with a recount. Exit code 0 when
 * done and everything agrees, 1 if something differs.
 */
export function declareAnalytics(command: Command, run: Run<{ url: string }>): void {
  command
    .command('rebuild')
    .description('recompute the rollups from usage, while the server runs')
    .option('--project <id>', 'of this project alone', readAs(z.uuid('It takes the id of a project.').toLowerCase()))
    .option('--json', 'print one JSON document')
    .action(({ project, json }) => run(({ url }) => rebuildRollups(url, project ?? null), { json }));
  command
    .command('check')
    .description('recount runs and their events, and report rollups that differ')
    .option('--json', 'print one JSON document')
    .action(options => run(({ url }) => checkRollups(url), options));
}

const grainNames = ['quarter', 'hour', 'day', 'month'];

/** Returns a difference as a line of text. */
function describeDifference(difference: Difference): string {
  const { table, projectId, workflowId, grain, bucket, name, column, sum, recount } = difference;
  const what = name === '' ? column : `${column} of ${name}`;
  return `  ${table}  project ${projectId}  workflow ${workflowId}  ${grainNames[grain]} ${bucket}  ${what}: ${sum}, recounted ${recount}`;
}

const day = (at: number) => new Date(at).toISOString();

async function rebuildRollups(url: string, project: string | null): Promise<Outcome> {
  const result = await rebuild(url, project, createLogger('silent'));
  if (result === null) throw notReady();
  const kept = result.since === null ? '' : ` Rollups before ${day(result.since)}, whose usage was purged, were kept.`;
  return { value: result, text: `Rebuilt from ${result.rows.toLocaleString('en')} rows of usage.${kept}` };
}

async function checkRollups(url: string): Promise<Outcome> {
  const result = await check(url, MAX_DIFFERENCES);
  if (result === null) throw notReady();
  const { since, stepsSince, differences } = result;
  const compared =
    since === null ? '' : ` Runs before ${day(since)} were purged: older rollups were compared with each other.`;
  const older =
    stepsSince === null
      ? ''
      : ` Steps before ${day(stepsSince)} were stored without types and outcomes: their rollups were compared with each other.`;
  const verdict =
    differences.length === 0
      ? 'The rollups agree with the runs and their events.'
      : [
          `${differences.length === MAX_DIFFERENCES ? 'At least ' : ''}${differences.length} rollups differ:`,
          ...differences.map(describeDifference),
          'npm run baton -- analytics rebuild recomputes them.',
        ].join('\n');
  return { value: result, text: `${verdict}${compared}${older}`, code: differences.length === 0 ? 0 : 1 };
}

const notReady = () =>
  new StartupError('Earlier runs have not been counted yet: start Baton, and try again in a minute.');

export const analytics = operatorCommand(declareAnalytics, async work => {
  const database = await reachDatabase(loadConfig().database, createLogger('silent'));
  try {
    return await work({ url: database.url });
  } finally {
    await database.close();
  }
});
