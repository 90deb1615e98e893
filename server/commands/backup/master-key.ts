import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../operation/config.ts';
import { isKeyOf } from '../../platform/backup/own-key.ts';
import type { Archive } from '../../platform/backup/read-archive.ts';
import { openMasterKey } from '../../platform/backup/sealed-key.ts';
import { findMasterKey, makeKeyFile, masterKeyFile } from '../../platform/crypto/master-key.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { StartupError } from '../../platform/postgres/startup-error.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { fingerprint } from '../../platform/secrets/installation-key.ts';
import { readPassphrase } from './passphrase.ts';

/** Returns the master key of this configuration; null if there is none yet. */
export const configuredKey = ({ identity, database }: Config): Promise<Buffer | null> =>
  findMasterKey({ configured: identity.masterKey, dataDir: database.dataDir });

const placeOf = ({ identity, database }: Config): string =>
  identity.masterKey === undefined ? masterKeyFile(resolve(database.dataDir)) : 'BATON_MASTER_KEY';

export const fingerprintOf = (masterKey: Uint8Array): string => fingerprint(masterKey).toString('hex');

/** Returns the master key of a database that is backed up. Throws StartupError if it is not here, or is another one. */
export async function keyOfDatabase(db: Queryable, config: Config): Promise<Buffer> {
  const key = await configuredKey(config);
  if (key === null)
    throw new StartupError(
      'The master key is not here, and a backup is sealed with it: set BATON_MASTER_KEY, or BATON_DATA_DIR to the folder that holds master.key.',
    );
  if (await isKeyOf(db, key)) return key;
  throw new StartupError(
    `The master key ${placeOf(config)} is not the one that the database belongs to: a backup would be of no use with it. Nothing was written.`,
  );
}

export type ArchiveKey = {
  masterKey: Buffer;
  /** Whether it came out of the file, so that it has to be stored. */
  isFromFile: boolean;
};

/**
 * Returns the master key of a backup: the configured one, or the one in the file. `null`: neither is there. Throws StartupError if the
 * configured one is another key, or the passphrase is wrong.
 */
export async function findArchiveKey(
  { manifest }: Archive,
  config: Config,
  passphraseFile: string | undefined,
): Promise<ArchiveKey | null> {
  const { fingerprint: expected, key: sealed } = manifest.master_key;
  const own = await configuredKey(config);
  if (own !== null) {
    if (fingerprintOf(own) === expected) return { masterKey: own, isFromFile: false };
    throw new StartupError(
      `The backup belongs to another master key than ${placeOf(config)}: its secrets could not be read. Nothing was changed.`,
    );
  }
  if (passphraseFile === undefined) return null;
  if (sealed === undefined)
    throw new StartupError('The backup does not hold its master key, so it needs no passphrase, but the key itself.');
  const passphrase = await readPassphrase(passphraseFile);
  const masterKey = await openMasterKey(sealed, { passphrase, fingerprint: expected });
  if (masterKey === null) throw new StartupError('The passphrase does not open the master key of the backup.');
  if (fingerprintOf(masterKey) !== expected)
    throw new StartupError('The backup holds another master key than its own.');
  return { masterKey, isFromFile: true };
}

/** Like `findArchiveKey`, but throws StartupError where the key is not there. */
export async function requireArchiveKey(
  archive: Archive,
  config: Config,
  passphraseFile: string | undefined,
): Promise<ArchiveKey> {
  const found = await findArchiveKey(archive, config, passphraseFile);
  if (found !== null) return found;
  const file = masterKeyFile(resolve(config.database.dataDir));
  throw new StartupError(
    archive.manifest.master_key.key === undefined
      ? `The backup needs its master key, which it does not hold: copy master.key to ${file}, or set BATON_MASTER_KEY.`
      : `The backup holds its master key: give its passphrase with --passphrase-file, copy master.key to ${file}, or set BATON_MASTER_KEY.`,
  );
}

/** Stores the master key as the generated one. Returns its file, and a function that removes it again. */
export async function storeKey(
  masterKey: Buffer,
  { database }: Config,
): Promise<{ file: string; undo(): Promise<void> }> {
  const folder = resolve(database.dataDir);
  const file = masterKeyFile(folder);
  await makeFolder(folder, 0o700);
  await makeKeyFile(file, masterKey);
  return { file, undo: () => rm(file, { force: true }) };
}
