import type { Command } from '@commander-js/extra-typings';
import pg from 'pg';
import type { Config } from '../../operation/config.ts';
import { ConfigError } from '../../operation/config.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { reason } from '../../platform/postgres/startup-error.ts';
import { createRedactor } from '../../platform/secrets/redaction.ts';
import { configuredSecrets } from '../../process/configured-secrets.ts';
import { loadConfig } from '../../process/load-config.ts';
import { type Outcome, operatorCommand, type Run } from '../command-line.ts';
import {
  checkClock,
  checkConnections,
  checkMigrations,
  checkQueries,
  checkReplication,
  checkServer,
  checkSessions,
  checkSettings,
  checkSizes,
} from './database-checks.ts';
import { describeReport, type Finding, ok, problem, skipped, toReport } from './finding.ts';
import { checkDisk, checkMasterKey } from './machine-checks.ts';
import { type Opened, openToLook } from './open.ts';
import { checkReach } from './reach.ts';
import { checkProcesses, checkRuns } from './run-checks.ts';

export type DoctorServices = { read: () => Config; clock: Clock };

/**
 * Declares `doctor`: looks at the database, the machine and the runs, and changes nothing. Exit code 1 if something is wrong;
 * warnings leave it 0.
 */
export function declareDoctor(command: Command, run: Run<DoctorServices>): void {
  command
    .option('--reach', 'also call the model providers and MCP servers of all workspaces, without credentials')
    .option('--json', 'print one JSON document')
    .action(({ reach = false, json }) => run(services => examine(services, reach), { json }));
}

async function examine({ read, clock }: DoctorServices, reach: boolean): Promise<Outcome> {
  let config: Config;
  try {
    config = read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split('\n');
    return toOutcome(
      lines.map(line => problem('configuration', line, 'Correct it (docs/configuration.md).')),
      [],
    );
  }
  const opened = await openToLook(config.database);
  const secrets = [...configuredSecrets(config)];
  if (!('client' in opened)) return toOutcome(await withoutDatabase(opened, config), secrets);
  try {
    if (opened.password !== undefined) secrets.push(opened.password);
    return toOutcome(await withDatabase(opened, config, { clock, reach }), secrets);
  } finally {
    await opened.client.end().catch(() => undefined);
  }
}

function toOutcome(findings: readonly Finding[], secrets: readonly string[]): Outcome {
  const report = toReport(findings, createRedactor(secrets).text);
  return { text: describeReport(report), value: report, code: report.ok ? 0 : 1 };
}

const keyOf = ({ identity, database }: Config) => ({ configured: identity.masterKey, dataDir: database.dataDir });

const withoutDatabase = async (database: Finding, config: Config): Promise<Finding[]> => [
  ok('configuration', 'It can be read.'),
  database,
  ...(await attempt('disk', () => checkDisk(config.database))),
  ...(await attempt('master key', () => checkMasterKey(null, keyOf(config)))),
];

async function withDatabase(
  { client, url }: Opened,
  config: Config,
  { clock, reach }: { clock: Clock; reach: boolean },
): Promise<Finding[]> {
  const { database } = config;
  const isExternal = database.url !== undefined;
  let [isUsable, isCurrent, leads, nowMs] = [false, false, false, clock.now()];
  const findings = [
    ok('configuration', 'It can be read.'),
    ...(await attempt('database', async () => {
      const { finding, isUsable: usable } = await checkServer(client);
      isUsable = usable;
      return finding;
    })),
    ...(isExternal ? await attempt('sessions', () => checkSessions(url)) : []),
    ...(await attempt('settings', () => checkSettings(client))),
    ...(await attempt('connections', () => checkConnections(client, database.pool))),
    ...(await attempt('clock', async () => {
      const { finding, databaseMs } = await checkClock(client, clock);
      nowMs = Math.min(nowMs, databaseMs);
      return finding;
    })),
    ...(await attempt('disk', () => checkDisk(database))),
    ...(isExternal ? await attempt('replication', () => checkReplication(client, database.replication ?? 'warn')) : []),
    ...(await attempt('slow queries', () => checkQueries(client))),
  ];
  if (!isUsable) return findings;
  findings.push(
    ...(await attempt('sizes', () => checkSizes(client))),
    ...(await attempt('migrations', async () => {
      const { finding, isCurrent: current } = await checkMigrations(client);
      isCurrent = current;
      return finding;
    })),
  );
  if (!isCurrent) return [...findings, skipped('runs', 'Not looked at: the tables are of another version.')];
  findings.push(
    ...(await attempt('master key', () => checkMasterKey(client, keyOf(config)))),
    ...(await attempt('leader', async () => {
      const found = await checkProcesses(client, config.cluster);
      leads = found.leads;
      return found.findings;
    })),
    ...(await attempt('runs', () => checkRuns(client, { nowMs, leads }))),
    ...(reach ? await attempt('reach', () => checkReach(client, config)) : []),
  );
  return findings;
}

/** Refusals that are no fault: the user of the database may not see it. */
const FORBIDDEN = '42501';

/** One check that fails does not hide the others. */
async function attempt(check: string, work: () => Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === FORBIDDEN)
      return [skipped(check, 'The user of the database may not look at it.')];
    return [problem(check, `It could not be looked at: ${reason(error)}`, 'Look again; then look at the database.')];
  }
}

/** `doctor`. Exit code 0: all is well, apart from warnings; 1: something is wrong. */
export const doctor = operatorCommand<DoctorServices>(declareDoctor, work =>
  work({ read: loadConfig, clock: systemClock }),
);
