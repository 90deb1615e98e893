import type { Command } from '@commander-js/extra-typings';
import pg from 'pg';
import type { Config } from '../../operation/config.ts';
import { ConfigError } from '../../operation/config.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
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
import { describeReport, type Finding, type Learned, ok, problem, skipped, toReport } from './finding.ts';
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
    await opened.close();
  }
}

function toOutcome(findings: readonly Finding[], secrets: readonly string[]): Outcome {
  const report = toReport(findings, createRedactor(secrets).text);
  return { text: describeReport(report), value: report, code: report.ok ? 0 : 1 };
}

const keyOf = ({ identity, database }: Config) => ({ configured: identity.masterKey, dataDir: database.dataDir });

const withoutDatabase = async (database: Finding, config: Config): Promise<Finding[]> => {
  const list = new Findings();
  list.add(ok('configuration', 'It can be read.'), database);
  await list.look('disk', () => checkDisk(config.database));
  await list.look('master key', () => checkMasterKey(null, keyOf(config)));
  return list.findings;
};

async function withDatabase(
  { client, url }: Opened,
  config: Config,
  { clock, reach }: { clock: Clock; reach: boolean },
): Promise<Finding[]> {
  const { database } = config;
  const isExternal = database.url !== undefined;
  const startedAt = clock.now();
  const list = new Findings();
  list.add(ok('configuration', 'It can be read.'));
  const isUsable = await list.look('database', () => checkServer(client));
  if (isExternal) await list.look('sessions', () => checkSessions(url));
  await list.look('settings', () => checkSettings(client, database.replication ?? 'warn'));
  await list.look('connections', () => checkConnections(client, database.pool));
  const databaseMs = await list.look('clock', () => checkClock(client, clock));
  await list.look('disk', () => checkDisk(database));
  if (isExternal) await list.look('replication', () => checkReplication(client, database.replication ?? 'warn'));
  await list.look('slow queries', () => checkQueries(client));
  if (!isUsable) return list.findings;
  await list.look('sizes', () => checkSizes(client));
  const isCurrent = await list.look('migrations', () => checkMigrations(client));
  if (isCurrent !== true) {
    if (!list.isLost) list.add(skipped('runs', 'Not looked at: the tables are of another version.'));
    return list.findings;
  }
  await list.look('master key', () => checkMasterKey(client, keyOf(config)));
  const leads = await list.look('leader', () => checkProcesses(client, config.cluster));
  const nowMs = Math.min(startedAt, databaseMs ?? startedAt);
  await list.look('runs', () => checkRuns(client, { nowMs, leads: leads === true }));
  if (reach) await list.look('reach', () => checkReach(client, config));
  return list.findings;
}

/** Refusals that are no fault: the user of the database may not see it. */
const FORBIDDEN = '42501';

/** Whether an error means that the session is gone. A statement that the database refuses, or ends, leaves it. */
const endsSession = (error: unknown) =>
  isDatabaseAway(error) && !(error instanceof pg.DatabaseError && !/^57P/.test(error.code ?? ''));

/** The findings so far. One check that fails does not hide the others; one that loses the database ends them. */
class Findings {
  readonly findings: Finding[] = [];
  isLost = false;

  add(...findings: readonly Finding[]): void {
    this.findings.push(...findings);
  }

  /** Adds what a check finds. Returns what else it learned; undefined if it could not look. */
  async look<T>(check: string, work: () => Promise<Finding | Finding[] | Learned<T>>): Promise<T | undefined> {
    if (this.isLost) return undefined;
    try {
      const found = await work();
      if (!('learned' in found)) {
        this.add(...[found].flat());
        return undefined;
      }
      this.add(...found.findings);
      return found.learned;
    } catch (error) {
      this.add(this.#explain(check, error));
      return undefined;
    }
  }

  #explain(check: string, error: unknown): Finding {
    this.isLost = endsSession(error);
    if (this.isLost)
      return problem(
        'database',
        `It stopped answering: ${reason(error)}. The rest was not looked at.`,
        'Look at the database and its network, then look again.',
      );
    if (error instanceof pg.DatabaseError && error.code === FORBIDDEN)
      return skipped(check, 'The user of the database may not look at it.');
    return problem(check, `It could not be looked at: ${reason(error)}`, 'Look again; then look at the database.');
  }
}

/** `doctor`. Exit code 0: all is well, apart from warnings; 1: something is wrong. */
export const doctor = operatorCommand<DoctorServices>(declareDoctor, work =>
  work({ read: loadConfig, clock: systemClock }),
);
