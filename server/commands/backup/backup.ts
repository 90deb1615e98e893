import type { Command } from '@commander-js/extra-typings';
import { LEADER_LOCK } from '../../orchestrator/cluster/locks.ts';
import { type Snapshot, withSnapshot } from '../../platform/backup/dump.ts';
import { loadInto } from '../../platform/backup/load.ts';
import { type Manifest, totalRows } from '../../platform/backup/manifest.ts';
import { type Archive, readArchive } from '../../platform/backup/read-archive.ts';
import { planMigrations } from '../../platform/backup/schema.ts';
import { sealMasterKey } from '../../platform/backup/sealed-key.ts';
import { writeArchive } from '../../platform/backup/write-archive.ts';
import { isoTimestamp, systemClock } from '../../platform/clock.ts';
import { createLogger } from '../../platform/logger.ts';
import { reachDatabase } from '../../platform/postgres/running.ts';
import { StartupError } from '../../platform/postgres/startup-error.ts';
import { openThrowaway } from '../../platform/postgres/throwaway.ts';
import { VERSION } from '../../process/version.ts';
import { type Outcome, operatorCommand, type Run } from '../command-line.ts';
import { amount, describeAudit, describeContents, examine } from './contents.ts';
import { findArchiveKey, fingerprintOf, keyOfDatabase } from './master-key.ts';
import { readPassphrase } from './passphrase.ts';
import { type BackupServices, openBackup } from './session.ts';

const PASSPHRASE_HELP = 'a file with the passphrase of the master key; - for standard input';

/** Declares `backup <file>`, which makes a backup whether the service runs or not, and `backup verify <file>`. */
export function declareBackup(command: Command, run: Run<BackupServices>): void {
  command
    .argument('<file>', 'the file that is made')
    .option('--with-master-key', 'store the master key in it as well, encrypted with a passphrase')
    .option('--passphrase-file <file>', PASSPHRASE_HELP)
    .option('--replace', 'replace the file if it exists')
    .option('--json', 'print one JSON document')
    .action((file, { withMasterKey, passphraseFile, replace = false, json }) =>
      run(services => create(services, file, { withMasterKey, passphraseFile, replace }), { json }),
    );
  command
    .command('verify')
    .description('restore a backup into a throw-away PostgreSQL, and say what it holds')
    .argument('<file>', 'the backup')
    .option('--passphrase-file <file>', PASSPHRASE_HELP)
    .option('--json', 'print one JSON document')
    .action((file, { passphraseFile, json }) => run(services => verify(services, file, passphraseFile), { json }));
}

type CreateOptions = { withMasterKey: true | undefined; passphraseFile: string | undefined; replace: boolean };

async function create({ config, signal }: BackupServices, file: string, options: CreateOptions): Promise<Outcome> {
  const passphrase = await passphraseOf(options);
  const database = await reachDatabase(config.database, createLogger('silent'));
  try {
    const work = async (snapshot: Snapshot) => {
      const createdAt = isoTimestamp(systemClock.now());
      const masterKey = await keyOfDatabase(snapshot.client, config);
      const fingerprint = fingerprintOf(masterKey);
      const key = passphrase === undefined ? undefined : await sealMasterKey(masterKey, { passphrase, fingerprint });
      const manifest = (): Manifest => ({
        created_at: createdAt,
        baton: VERSION,
        layout: snapshot.layout,
        rows: Object.fromEntries(snapshot.layout.tables.map(({ name }) => [name, snapshot.rowsOf(name) ?? 0])),
        master_key: { fingerprint, ...(key && { key }) },
      });
      const bytes = await writeArchive(file, { tables: snapshot.tables(), manifest, masterKey }, options.replace);
      return { bytes, manifest: manifest() };
    };
    const { bytes, manifest } = await withSnapshot(database.url, work, signal);
    const { layout, rows } = manifest;
    const value = {
      file,
      bytes,
      created_at: manifest.created_at,
      rows: totalRows(rows),
      tables: layout.tables.length,
      with_master_key: passphrase !== undefined,
    };
    const keyLine =
      passphrase === undefined
        ? 'It does not hold the master key, without which its secrets cannot be read: keep that elsewhere.'
        : 'It holds the master key, encrypted with the passphrase: keep that elsewhere.';
    const made = `Made ${file}: ${amount(value.rows, 'row')} of ${amount(value.tables, 'table')}, ${amount(bytes, 'byte')}.`;
    return { value, text: `${made}\n${keyLine}` };
  } finally {
    await database.close();
  }
}

async function passphraseOf({ withMasterKey, passphraseFile }: CreateOptions): Promise<string | undefined> {
  if (withMasterKey && passphraseFile === undefined)
    throw new StartupError('--with-master-key needs --passphrase-file: the key is never stored without a passphrase.');
  if (!withMasterKey && passphraseFile !== undefined)
    throw new StartupError('--passphrase-file is for --with-master-key: nothing else in a backup needs a passphrase.');
  return passphraseFile === undefined ? undefined : readPassphrase(passphraseFile);
}

async function verify({ config, signal }: BackupServices, file: string, passphraseFile?: string): Promise<Outcome> {
  const archive = await readArchive(file);
  const plan = await planMigrations(archive.layout);
  const key = await sealLine(archive, { config, signal }, passphraseFile);
  const throwaway = await openThrowaway();
  try {
    const at = Date.parse(archive.manifest.created_at);
    const target = { url: throwaway.url, leaderLock: LEADER_LOCK, plan, at: new Date(at), signal };
    const loaded = await loadInto(target, archive);
    const { contents, audit } = await examine(throwaway.url, at);
    const text = [
      `${file} is complete and can be restored.`,
      `  made      ${describeOrigin(archive.manifest)}`,
      `  holds     ${describeContents(contents)}`,
      `  rows      ${loaded.rows.toLocaleString('en')} of ${amount(loaded.tables, 'table')}`,
      `  key       ${key.line}`,
      ...describeAudit(audit),
    ];
    const value = {
      file,
      bytes: archive.bytes,
      created_at: archive.manifest.created_at,
      seal: key.seal,
      contents,
      rows: archive.manifest.rows,
      audit,
    };
    return { value, text: text.join('\n'), code: audit.differences.length === 0 ? 0 : 1 };
  } finally {
    await throwaway.close();
  }
}

/** Without the master key, only the checksum can be compared, which protects from accidents alone. */
async function sealLine(
  archive: Archive,
  { config }: BackupServices,
  passphraseFile: string | undefined,
): Promise<{ seal: 'valid' | 'unchecked'; line: string }> {
  const held = archive.manifest.master_key.key === undefined ? 'not in the file' : 'in the file, with a passphrase';
  const key = await findArchiveKey(archive, config, passphraseFile);
  if (key === null) return { seal: 'unchecked', line: `${held}; not here either, so the seal was not checked` };
  refuseForeignSeal(archive, key.masterKey);
  return { seal: 'valid', line: `${held}; the seal is that of the master key` };
}

/** Throws StartupError for a file that was changed together with its checksum. */
export function refuseForeignSeal(archive: Archive, masterKey: Uint8Array): void {
  if (archive.isSealedBy(masterKey)) return;
  throw new StartupError('The backup was changed after it was made: its seal is not that of its master key.');
}

/** Returns when, and by what, a backup was made. */
export const describeOrigin = ({ created_at, baton, layout }: Manifest): string =>
  `${created_at} by Baton ${baton} from PostgreSQL ${layout.postgres}, migration ${layout.migrations.at(-1)?.name}`;

export const backup = operatorCommand(declareBackup, openBackup);
