import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type pg from 'pg';
import type { Config } from '../../operation/config.ts';
import { findMasterKey, MasterKeyError } from '../../platform/crypto/master-key.ts';
import { compareMasterKey } from '../../platform/secrets/installation-key.ts';
import { type Finding, ok, problem, skipped, warning } from './finding.ts';
import { look } from './queries.ts';

const GIB = 1024 ** 3;
/** Below this PostgreSQL soon stops: a segment of its log has 16 MiB, and a checkpoint leaves up to 2 GiB of them. */
const NO_ROOM_BYTES = GIB / 2;
const LITTLE_ROOM_BYTES = 4 * GIB;

export type Space = { free: number; total: number };

async function spaceOf(folder: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
}

/** The disk of the embedded database. That of another server cannot be seen. */
export async function checkDisk(
  { url, dataDir }: Pick<Config['database'], 'url' | 'dataDir'>,
  read: (folder: string) => Promise<Space> = spaceOf,
): Promise<Finding> {
  if (url !== undefined) return skipped('disk', 'The disk of the database cannot be seen from here.');
  const folder = resolve(dataDir);
  const space = await read(folder).catch(() => undefined);
  if (space === undefined) return skipped('disk', `The disk of ${folder} cannot be seen.`);
  const gib = (bytes: number) => (bytes / GIB).toFixed(1);
  const text = `${gib(space.free)} of ${gib(space.total)} GiB are free for ${folder}`;
  const facts = { folder, free_bytes: space.free, total_bytes: space.total };
  const advice = 'Make room, or let retention delete history (docs/operations.md, Retention).';
  if (space.free < NO_ROOM_BYTES) return problem('disk', text, advice, facts);
  return space.free < LITTLE_ROOM_BYTES ? warning('disk', text, advice, facts) : ok('disk', text, facts);
}

type KeySource = { configured: string | undefined; dataDir: string };

/** Whether the master key is the one that the database belongs to. `db` null: only whether there is one. */
export async function checkMasterKey(db: pg.Client | null, { configured, dataDir }: KeySource): Promise<Finding> {
  const source = configured === undefined ? 'The file master.key' : 'BATON_MASTER_KEY';
  let key: Buffer | null;
  try {
    key = await findMasterKey({ configured, dataDir: resolve(dataDir) });
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    return problem('master key', error.message, 'Without it no stored secret can be read.');
  }
  const advice = 'Set BATON_MASTER_KEY, or put back master.key: without it no stored secret can be read.';
  const verdict = db === null ? null : await look(db, tx => compareMasterKey(tx, key ?? Buffer.alloc(0)));
  if (key === null && verdict === null) return skipped('master key', 'There is none here.');
  if (key === null)
    return verdict === 'unclaimed'
      ? ok('master key', 'There is none yet; the first start makes one.')
      : problem('master key', `There is no BATON_MASTER_KEY, and no master.key in ${resolve(dataDir)}.`, advice);
  if (verdict === null)
    return skipped('master key', `${source} is there; whether it is right, only the database knows.`);
  if (verdict === 'foreign') return problem('master key', `${source} is not the key of this database.`, advice);
  return ok(
    'master key',
    verdict === 'own' ? `${source} is the key of this database.` : `${source} is there; the first start claims it.`,
  );
}
