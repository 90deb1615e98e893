import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { systemClock } from '../clock.ts';
import { isAlive } from '../postgres/process-table.ts';
import { StartupError } from '../postgres/startup-error.ts';
import { toFrames } from './frames.ts';
import type { Manifest, TableRows } from './manifest.ts';
import { FIRST_LINE, offsetPart, sealOf, sumsPart } from './trailer.ts';

/** Level 6 halves the speed and saves a tenth. */
const GZIP_LEVEL = 3;
const UNFINISHED = '.incomplete-';
/** The longest that a backup of another machine, on a folder that both share, is taken to be unfinished. */
const ABANDONED_MS = 24 * 3_600_000;

export type Contents = {
  tables: AsyncIterable<TableRows>;
  /** Called when all rows were read. */
  manifest(): Manifest | Promise<Manifest>;
  masterKey: Uint8Array;
};

/**
 * Writes a backup and returns its size in bytes. It is written under another name beside its place, flushed, and renamed: `file` is
 * complete, or as it was. What earlier processes that were killed left beside it is removed. Throws StartupError if the file exists
 * (unless `replace`) or cannot be written.
 */
export async function writeArchive(file: string, contents: Contents, replace: boolean): Promise<number> {
  const target = resolve(file);
  await refuseExisting(target, file, replace);
  const draft = `${target}${UNFINISHED}${hostname()}-${process.pid}`;
  try {
    await removeUnfinished(target);
    const handle = await open(draft, 'wx', 0o600);
    let bytes: number;
    try {
      bytes = await writeAll(handle, contents);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await refuseExisting(target, file, replace);
    await rename(draft, target);
    await syncFolder(dirname(target));
    return bytes;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw isFileError(error) ? unwritable(file, error) : error;
  }
}

async function refuseExisting(target: string, file: string, replace: boolean): Promise<void> {
  const found = await stat(target).catch(() => null);
  if (found === null) return;
  if (!found.isFile()) throw new StartupError(`${file} is not a file: name the file that is to be made.`);
  if (!replace) throw new StartupError(`${file} exists: name another file, or replace it with --replace.`);
}

async function writeAll(handle: FileHandle, { tables, manifest, masterKey }: Contents): Promise<number> {
  const counted = { bytes: 0, hash: createHash('sha256') };
  const append = async (text: string) => {
    count(counted, Buffer.from(text, 'utf8'));
    await handle.appendFile(text);
  };
  await append(FIRST_LINE);
  await pipeline(
    Readable.from(toFrames(tables), { objectMode: false }),
    createGzip({ level: GZIP_LEVEL }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        count(counted, chunk);
        yield chunk;
      }
    },
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await handle.appendFile(chunk);
    },
  );
  const manifestAt = counted.bytes;
  await append(JSON.stringify(await manifest()));
  await append(offsetPart(manifestAt));
  const checksum = counted.hash.digest();
  const sums = sumsPart(checksum, sealOf(masterKey, checksum));
  await handle.appendFile(sums);
  return counted.bytes + sums.length;
}

function count(counted: { bytes: number; hash: Hash }, chunk: Buffer): void {
  counted.bytes += chunk.length;
  counted.hash.update(chunk);
}

/** Removes the unfinished files of processes that have ended. */
async function removeUnfinished(target: string): Promise<void> {
  const prefix = `${basename(target)}${UNFINISHED}`;
  for (const name of await readdir(dirname(target))) {
    if (!name.startsWith(prefix)) continue;
    const path = join(dirname(target), name);
    const [, host, pid] = /^(.*)-(\d+)$/.exec(name.slice(prefix.length)) ?? [];
    const isOurs = host === hostname();
    if (isOurs && Number(pid) !== process.pid && (await isAlive(Number(pid)))) continue;
    if (!isOurs && systemClock.now() - (await stat(path)).mtimeMs < ABANDONED_MS) continue;
    await rm(path, { force: true });
  }
}

/** Makes a new name durable. Where folders cannot be opened (Windows), the file system ensures it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Calls of the system about the file; the errors of a connection name others. */
const FILE_CALLS = ['open', 'write', 'fsync', 'close', 'rename', 'scandir', 'stat', 'unlink'];
const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && FILE_CALLS.includes((error as NodeJS.ErrnoException).syscall ?? '');

const WORDS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'the file system allows no larger file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is not a folder',
};

function unwritable(file: string, cause: NodeJS.ErrnoException): StartupError {
  const why = WORDS[cause.code ?? ''] ?? cause.code ?? 'unknown error';
  return new StartupError(`The backup ${file} cannot be written: ${why}. Nothing was left behind.`, { cause });
}
