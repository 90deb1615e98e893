import { link, open, rename, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type pg from 'pg';
import { type Clock, isoTimestamp, systemClock } from '../platform/clock.ts';
import { DecryptionError } from '../platform/crypto/envelope.ts';
import { makeKeyFile, masterKeyFile, readKeyFile } from '../platform/crypto/master-key.ts';
import { createLogger } from '../platform/logger.ts';
import { startEmbedded } from '../platform/postgres/embedded.ts';
import { reason, StartupError } from '../platform/postgres/startup-error.ts';
import { rotateMasterKey } from '../platform/secrets/database-secret-store.ts';
import { loadConfig } from '../process/load-config.ts';
import { type Outcome, operatorCommand } from './command-line.ts';
import { createCommandPool } from './open-database.ts';

export type Rotation = {
  /** The number of workspaces whose key was wrapped again; 0 if an interrupted rotation had already wrapped them. */
  tenants: number;
  file: string;
  /** The path of the previous key. */
  previous: string;
};

/**
 * Replaces the generated master key: writes a new one beside it, wraps the tenants' keys again in one transaction, and
 * swaps the files. After an interruption at any point, the next call continues; the old key stays valid until the
 * transaction commits. Baton must not run meanwhile: it would continue to wrap keys under the old one. Throws
 * StartupError, having changed nothing, if Baton runs or if the key is not the database's.
 */
export async function rotateKeyFile(pool: pg.Pool, dataDir: string, clock: Clock): Promise<Rotation> {
  const file = masterKeyFile(resolve(dataDir));
  const from = await readKeyFile(file);
  if (from === null)
    throw new StartupError(`There is no master key in ${file}: set BATON_DATA_DIR to the folder that holds it.`);
  await refuseWhileInUse(pool);

  const next = `${file}.next`;
  const interrupted = (await readKeyFile(next)) !== null;
  if (!interrupted) await makeKeyFile(next);
  const to = await readKeyFile(next);
  if (to === null) throw new StartupError(`The new master key ${next} vanished while it was made.`);
  await syncFolder(file);
  const tenants = await rotateMasterKey(pool, { from, to }).catch(async error => {
    if (!(error instanceof DecryptionError)) throw error;
    // The transaction was certainly rolled back, so nothing is wrapped under the new key unless an
    // earlier attempt had committed.
    if (!interrupted) await unlink(next);
    throw new StartupError(
      `The master key ${file} is not the one the stored secrets were encrypted with. Nothing was changed.`,
    );
  });
  // The time in the name keeps a second rotation from overwriting it.
  const previous = `${file}.until-${isoTimestamp(clock.now()).replaceAll(':', '-')}`;
  await link(file, previous);
  await rename(next, file);
  await syncFolder(file);
  return { tenants, file, previous };
}

/** The folder's lock already prevents this for an embedded database, but several processes may use an external one. */
async function refuseWhileInUse(pool: pg.Pool): Promise<void> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND application_name IN ('baton', 'baton-orchestrator') AND pid <> pg_backend_pid()`,
  );
  if (rowCount !== 0)
    throw new StartupError('A Baton process uses this database: stop all of them before you replace the master key.');
}

/**
 * Makes a new file name durable by syncing its folder. Where folders cannot be opened (Windows),
 * the file system ensures it.
 */
async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), 'r').catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

async function openPool(url: string | undefined, dataDir: string): Promise<{ pool: pg.Pool; close(): Promise<void> }> {
  const embedded = url === undefined ? await openEmbedded(dataDir) : undefined;
  const pool = createCommandPool(url ?? embedded?.url, { max: 2, application_name: 'baton-rotation' });
  const close = async () => {
    await pool.end();
    await embedded?.close();
  };
  try {
    const { rows } = await pool.query<{ found: boolean; current: boolean }>(
      `SELECT to_regclass('tenant_keys') IS NOT NULL AS found, to_regclass('installation') IS NOT NULL AS current`,
    );
    if (!rows[0]?.found) throw new StartupError('The database holds no Baton data yet: there is no key to replace.');
    if (!rows[0].current)
      throw new StartupError(
        'The database belongs to an older version of Baton: start this version once to migrate it.',
      );
    return { pool, close };
  } catch (cause) {
    await close();
    if (cause instanceof StartupError) throw cause;
    throw new StartupError(`The database cannot be reached: ${reason(cause)}`, { cause });
  }
}

/** Opens the embedded database only if it exists: a start would create one. */
async function openEmbedded(dataDir: string) {
  if ((await readKeyFile(masterKeyFile(resolve(dataDir)))) === null) {
    throw new StartupError(
      `There is no master key in ${resolve(dataDir)}: set BATON_DATA_DIR or DATABASE_URL to what Baton uses.`,
    );
  }
  return startEmbedded(dataDir, 10, createLogger('silent'));
}

/** Throws StartupError, having changed nothing, if the key is not in a file. */
async function rotate(): Promise<Outcome> {
  const { database, identity } = loadConfig();
  if (identity.masterKey !== undefined) {
    throw new StartupError(
      'The master key is BATON_MASTER_KEY, not a file: set the new one there (openssl rand -base64 32), the one until now as BATON_MASTER_KEY_PREVIOUS, and start Baton once.',
    );
  }
  const { pool, close } = await openPool(database.url, database.dataDir);
  try {
    const { tenants, file, previous } = await rotateKeyFile(pool, database.dataDir, systemClock);
    return {
      text: [
        `The master key was replaced; ${tenants} ${tenants === 1 ? 'workspace key is' : 'workspace keys are'} wrapped again.`,
        `  now        ${file}`,
        `  until now  ${previous}`,
        'Backups made until now need the old key: keep it apart as long as you keep them, then delete it.',
        'Everybody has to sign in again.',
      ].join('\n'),
    };
  } finally {
    await close();
  }
}

/** `rotate-master-key`. Exit code 0 on success, 1 if it was refused and nothing was changed. */
export const rotation = operatorCommand<undefined>(
  (command, run) => command.action(() => run(rotate)),
  work => work(undefined),
);
