import { parseArgs } from 'node:util';
import { z } from 'zod';
import { runCommandLine } from './command-line.ts';
import { check } from './domains/analytics/check.ts';
import type { Difference } from './domains/analytics/compare-sums.ts';
import { rebuild } from './domains/analytics/rebuild.ts';
import { loadConfig } from './load-config.ts';
import { createLogger } from './platform/logger.ts';
import { reachDatabase } from './platform/postgres/running.ts';
import { reason, StartupError } from './platform/postgres/startup-error.ts';

/**
 * `npm run analytics`: makes the sums anew that analytics answer from, or recounts them. Exit code 0 when it is done and all
 * agrees, 1 where something differs or it could not run.
 */
const USAGE = `npm run analytics -- rebuild [--project <id>] | check [--json]

  rebuild              makes the sums anew from usage, while the server runs
  --project <id>       of this project alone
  check                recounts runs and their events, and tells where the sums differ
  --json               one JSON document on standard output`;

/** More than these tell nothing new. */
const MOST_DIFFERENCES = 200;

type Options = { command: 'rebuild' | 'check'; project: string | null; json: boolean };

/** Throws StartupError for arguments that cannot be used. */
export function readOptions(args: readonly string[]): Options {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { project: { type: 'string' }, json: { type: 'boolean' } },
    });
    const [command, ...more] = positionals;
    if ((command !== 'rebuild' && command !== 'check') || more.length > 0)
      throw new Error('Say whether to rebuild or to check.');
    if (values.project !== undefined && (command === 'check' || !z.uuid().safeParse(values.project).success))
      throw new Error('--project takes the id of a project, for rebuild.');
    return { command, project: values.project?.toLowerCase() ?? null, json: values.json ?? false };
  } catch (error) {
    throw new StartupError(`${reason(error)}\n\n${USAGE}`);
  }
}

const grainNames = ['quarter', 'hour', 'day', 'month'];

/** A difference as a person reads it. */
export function describeDifference(difference: Difference): string {
  const { table, projectId, workflowId, grain, bucket, name, column, sum, recount } = difference;
  const what = name === '' ? column : `${column} of ${name}`;
  return `  ${table}  project ${projectId}  workflow ${workflowId}  ${grainNames[grain]} ${bucket}  ${what}: ${sum}, recounted ${recount}`;
}

/** Runs the command on the database at `url`; returns what to print, as a value and for a person, and the exit code. */
export async function runAnalyticsCommand(
  url: string,
  { command, project }: Options,
): Promise<{ value: unknown; text: string; code: number }> {
  const day = (at: number) => new Date(at).toISOString();
  if (command === 'rebuild') {
    const result = await rebuild(url, project, createLogger('silent'));
    if (result === null) throw notReady();
    const kept = result.since === null ? '' : ` Sums of before ${day(result.since)}, whose usage is gone, were kept.`;
    return { value: result, text: `Rebuilt from ${result.rows.toLocaleString('en')} rows of usage.${kept}`, code: 0 };
  }
  const result = await check(url, MOST_DIFFERENCES);
  if (result === null) throw notReady();
  const { since, stepsSince, differences } = result;
  const compared =
    since === null ? '' : ` Runs of before ${day(since)} are gone: older sums were compared with each other.`;
  const older =
    stepsSince === null
      ? ''
      : ` Steps of before ${day(stepsSince)} were stored without types and outcomes: their sums were compared with each other.`;
  const verdict =
    differences.length === 0
      ? 'The sums are what runs and their events say.'
      : [
          `${differences.length === MOST_DIFFERENCES ? 'At least ' : ''}${differences.length} sums differ:`,
          ...differences.map(describeDifference),
          'npm run analytics -- rebuild makes them anew.',
        ].join('\n');
  return { value: result, text: `${verdict}${compared}${older}`, code: differences.length === 0 ? 0 : 1 };
}

const notReady = () =>
  new StartupError('The runs of before have not been counted yet: start Baton, and try again in a minute.');

async function main(args: readonly string[]): Promise<number> {
  const config = loadConfig();
  const options = readOptions(args);
  const database = await reachDatabase(config.database, createLogger('silent'));
  try {
    const { value, text, code } = await runAnalyticsCommand(database.url, options);
    process.stdout.write(`${options.json ? JSON.stringify(value, null, 2) : text}\n`);
    return code;
  } finally {
    await database.close();
  }
}

if (import.meta.main) await runCommandLine(main);
