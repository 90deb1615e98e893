import { resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { Config } from '../../operation/config.ts';
import { LEADER_LOCK } from '../../orchestrator/cluster/locks.ts';
import { DatabaseFailedError, loadInto } from '../../platform/backup/load.ts';
import { readArchive } from '../../platform/backup/read-archive.ts';
import { planMigrations } from '../../platform/backup/schema.ts';
import { createLogger } from '../../platform/logger.ts';
import { checkServer } from '../../platform/postgres/database.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../platform/postgres/embedded.ts';
import { type Outcome, operatorCommand, type Run } from '../command-line.ts';
import { describeOrigin, refuseForeignSeal } from './backup.ts';
import { amount, describeAudit, describeContents, examineLoaded } from './contents.ts';
import { requireArchiveKey, storeKey } from './master-key.ts';
import { type BackupServices, openBackup } from './session.ts';

/** The maximum number of connections of an embedded PostgreSQL: a restore needs two. */
const CONNECTIONS = 10;

/** Declares `restore <file>`: loads a backup into the configured database, which must be empty. */
export function declareRestore(command: Command, run: Run<BackupServices>): void {
  command
    .argument('<file>', 'the backup')
    .option('--passphrase-file <file>', 'a file with the passphrase of the master key in it; - for standard input')
    .option('--json', 'print one JSON document')
    .action((file, { passphraseFile, json }) => run(services => restore(services, file, passphraseFile), { json }));
}

async function restore({ config, signal }: BackupServices, file: string, passphraseFile?: string): Promise<Outcome> {
  const archive = await readArchive(file);
  const plan = await planMigrations(archive.layout);
  const key = await requireArchiveKey(archive, config, passphraseFile);
  refuseForeignSeal(archive, key.masterKey);
  const { manifest } = archive;
  const database = await openTarget(config);
  let mode: 'fast' | 'immediate' = 'fast';
  let stored: Awaited<ReturnType<typeof storeKey>> | undefined;
  try {
    const at = new Date(manifest.created_at);
    const beforeCommit = async () => {
      stored = key.isFromFile ? await storeKey(key.masterKey, config) : undefined;
      return async () => stored?.undo();
    };
    const target = { url: database.url, leaderLock: LEADER_LOCK, plan, at, beforeCommit, signal };
    const loaded = await loadInto(target, archive);
    const { contents, audit } = await examineLoaded(database.url, at.getTime());
    const later = plan.later.map(({ name }) => name);
    const text = [
      `Restored ${file}, made ${describeOrigin(manifest)}.`,
      `${amount(loaded.rows, 'row')} of ${amount(loaded.tables, 'table')}: ${describeContents(contents)}.`,
      ...(later.length === 0 ? [] : [`Migrated it to this version: ${later.join(', ')}.`]),
      ...(loaded.leftOut.length === 0 ? [] : [`Left out, because they are not Baton's: ${loaded.leftOut.join(', ')}.`]),
      ...(stored === undefined ? [] : [`The master key is in ${stored.file}.`]),
      ...describeAudit(audit),
      'Start Baton: every run continues from where it was when the backup was made.',
    ];
    const value = { file, created_at: manifest.created_at, rows: loaded.rows, migrated: later, contents, audit };
    return { value, text: text.join('\n'), code: audit.differences.length === 0 ? 0 : 1 };
  } catch (error) {
    if (error instanceof DatabaseFailedError) mode = 'immediate';
    throw error;
  } finally {
    await database.close(mode);
  }
}

/** Opens the configured database: an embedded one is created if there is none, and refused if a service uses it. */
async function openTarget({ database }: Config): Promise<Pick<EmbeddedPostgres, 'url' | 'close'>> {
  if (database.url === undefined) return startEmbedded(resolve(database.dataDir), CONNECTIONS, createLogger('silent'));
  await checkServer(database.url, 'warn');
  return { url: database.url, close: async () => undefined };
}

export const restoration = operatorCommand(declareRestore, openBackup);
