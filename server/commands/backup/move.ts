import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from '@commander-js/extra-typings';
import { LEADER_LOCK } from '../../orchestrator/cluster/locks.ts';
import { withSnapshot } from '../../platform/backup/dump.ts';
import { loadInto } from '../../platform/backup/load.ts';
import { planMigrations } from '../../platform/backup/schema.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { clusterVersion } from '../../platform/postgres/cluster.ts';
import { connectionStringProblem } from '../../platform/postgres/connection-string.ts';
import { checkServer } from '../../platform/postgres/database.ts';
import { startEmbedded } from '../../platform/postgres/embedded.ts';
import { StartupError } from '../../platform/postgres/startup-error.ts';
import { type Outcome, operatorCommand, type Run } from '../command-line.ts';
import { amount, describeAudit, describeContents, examineLoaded } from './contents.ts';
import { keyOfDatabase } from './master-key.ts';
import { type BackupServices, openBackup } from './session.ts';

const CONNECTIONS = 10;

/** Declares `move --to <DATABASE_URL>`: copies the embedded database into an empty external one, while the service is stopped. */
export function declareMove(command: Command, run: Run<BackupServices>): void {
  command
    .requiredOption('--to <DATABASE_URL>', 'the external database, which must be empty', readUrl)
    .option('--json', 'print one JSON document')
    .action(({ to, json }) => run(services => move(services, to), { json }));
}

function readUrl(url: string): string {
  const problem = connectionStringProblem(url);
  if (problem !== undefined) throw new InvalidArgumentError(`It ${problem}.`);
  return url;
}

async function move({ config, signal }: BackupServices, to: string): Promise<Outcome> {
  const folder = resolve(config.database.dataDir);
  if ((await clusterVersion(join(folder, 'postgres'))) === undefined)
    throw new StartupError(
      `There is no embedded database in ${folder}: set BATON_DATA_DIR to the folder that holds it.`,
    );
  // It becomes the owner of the folder, which a running service is.
  const embedded = await startEmbedded(folder, CONNECTIONS, createLogger('silent'));
  try {
    await checkServer(to, 'warn');
    const at = systemClock.now();
    const loaded = await withSnapshot(
      embedded.url,
      async snapshot => {
        await keyOfDatabase(snapshot.client, config);
        const plan = await planMigrations(snapshot.layout);
        return loadInto({ url: to, leaderLock: LEADER_LOCK, plan, at: new Date(at), signal }, snapshot);
      },
      signal,
    );
    const { contents, audit } = await examineLoaded(to, at);
    const text = [
      `Moved ${amount(loaded.rows, 'row')} of ${amount(loaded.tables, 'table')}: ${describeContents(contents)}.`,
      ...(loaded.leftOut.length === 0 ? [] : [`Left out, because they are not Baton's: ${loaded.leftOut.join(', ')}.`]),
      ...describeAudit(audit),
      `Set DATABASE_URL to the new database, and keep BATON_DATA_DIR or BATON_MASTER_KEY: the master key stays where it is.`,
      `Never start Baton without DATABASE_URL again: ${join(folder, 'postgres')} is unchanged, and the same runs would go on in both.`,
    ];
    const value = { rows: loaded.rows, contents, audit };
    return { value, text: text.join('\n'), code: audit.differences.length === 0 ? 0 : 1 };
  } finally {
    await embedded.close();
  }
}

export const moving = operatorCommand(declareMove, openBackup);
