import { randomBytes } from 'node:crypto';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../make-folder.ts';

const MASTER_KEY_BYTES = 32;

/** A master key that cannot be used; `message` is one clear line and never holds the key. */
export class MasterKeyError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'MasterKeyError';
  }
}

/** Returns whether a text is the base64 (or base64url) form of a key. */
export const isMasterKey = (text: string): boolean => decode(text).length === MASTER_KEY_BYTES;

function decode(text: string): Buffer {
  const trimmed = text.trim();
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(trimmed) ? Buffer.from(trimmed, 'base64') : Buffer.alloc(0);
}

/** Parses the base64 (or base64url) form of a key; `source` names it in the error. Throws MasterKeyError. */
export function parseMasterKey(text: string, source: string): Buffer {
  const key = decode(text);
  if (key.length !== MASTER_KEY_BYTES) {
    throw new MasterKeyError(`${source} must be base64 of ${MASTER_KEY_BYTES} bytes (openssl rand -base64 32).`);
  }
  return key;
}

/**
 * Returns the key in a file, null if the file does not exist. Throws MasterKeyError if it is
 * malformed or readable by others.
 */
export async function readKeyFile(path: string): Promise<Buffer | null> {
  const stats = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new MasterKeyError(`The master key ${path} cannot be read (${error.code ?? 'unknown error'}).`);
  });
  if (stats === null) return null;
  // Windows has no such bits: there the permissions of the folder protect the file.
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    throw new MasterKeyError(`The master key ${path} can be read by others; run: chmod 600 ${path}`);
  }
  return parseMasterKey(await readFile(path, 'utf8'), `The master key ${path}`);
}

/** Returns the path of the generated master key. */
export const masterKeyFile = (dataDir: string) => join(dataDir, 'master.key');

type KeySource = { configured: string | undefined; dataDir: string };

/**
 * Returns the configured master key, else that of `<dataDir>/master.key`; null if neither
 * exists. Throws MasterKeyError.
 */
export async function findMasterKey(from: KeySource): Promise<Buffer | null> {
  if (from.configured !== undefined) return parseMasterKey(from.configured, 'BATON_MASTER_KEY');
  return readKeyFile(masterKeyFile(from.dataDir));
}

/**
 * Creates `<dataDir>/master.key` with mode 0600 and returns the key. Processes that start concurrently agree on one
 * key. Throws MasterKeyError.
 */
export async function createMasterKey(dataDir: string): Promise<Buffer> {
  const path = masterKeyFile(dataDir);
  try {
    await makeFolder(dataDir);
    await makeKeyFile(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new MasterKeyError(
      `The master key ${path} cannot be written (${code}): set BATON_DATA_DIR to a folder that can, or BATON_MASTER_KEY.`,
      { cause },
    );
  }
  const made = await readKeyFile(path);
  if (!made) throw new MasterKeyError(`The master key ${path} vanished while it was made.`);
  return made;
}

/**
 * Returns the configured master key, else that of the file, which is created at the first start. Throws MasterKeyError.
 */
export async function loadMasterKey(from: KeySource): Promise<Buffer> {
  return (await findMasterKey(from)) ?? (await createMasterKey(from.dataDir));
}

/** Creates a file with a key (default: a new one), mode 0600. An existing file is unchanged. */
export async function makeKeyFile(path: string, key: Uint8Array = randomBytes(MASTER_KEY_BYTES)): Promise<void> {
  // Written completely under another name, then linked: a crash never leaves half a key, and of two processes one wins.
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${Buffer.from(key).toString('base64')}\n`);
    await file.sync();
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await file.close();
    await unlink(draft);
  }
}
