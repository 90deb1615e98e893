import { createHash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { StartupError } from '../postgres/startup-error.ts';
import { fromFrames } from './frames.ts';
import { FORMAT, Manifest, type RowSource, type TableRows } from './manifest.ts';
import { FIRST_LINE, isSealedBy, OFFSET_BYTES, parseTrailer, SUMS_BYTES } from './trailer.ts';

/** A backup whose checksum was compared, as a source of rows. */
export type Archive = RowSource & {
  manifest: Manifest;
  bytes: number;
  /** Returns whether the file was made with this master key. */
  isSealedBy(masterKey: Uint8Array): boolean;
};

/**
 * Reads a whole file, compares its checksum, and parses its manifest. Throws StartupError, with one line, for a file that is no backup,
 * or incomplete, damaged, or of another format.
 */
export async function readArchive(file: string): Promise<Archive> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, error);
  });
  try {
    const size = await expectFormat(handle, file);
    const trailer = await readTrailer(handle, size);
    if (trailer === null)
      throw new StartupError(`${file} is incomplete: its end is missing. Copy it again, or use another backup.`);
    const end = size - SUMS_BYTES;
    if (!timingSafeEqual(await checksumOf(file, end), trailer.checksum))
      throw new StartupError(`${file} is damaged: its checksum does not match. Copy it again, or use another backup.`);
    const manifest = await readManifest(handle, { from: trailer.manifestAt, to: end - OFFSET_BYTES });
    if (manifest === null) throw new StartupError(`${file} is damaged: its manifest cannot be read.`);
    return {
      manifest,
      bytes: size,
      layout: manifest.layout,
      rowsOf: table => manifest.rows[table],
      isSealedBy: masterKey => isSealedBy(masterKey, trailer),
      tables: () => readTables(file, { from: FIRST_LINE.length, to: trailer.manifestAt }),
    };
  } catch (error) {
    throw error instanceof StartupError ? error : unreadable(file, error as NodeJS.ErrnoException);
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, cause: NodeJS.ErrnoException): StartupError {
  const why = cause.code === 'ENOENT' ? 'there is no such file' : (cause.code ?? cause.message);
  return new StartupError(`The backup ${file} cannot be read: ${why}.`, { cause });
}

/** Returns the size of the file. Throws StartupError if it does not begin like a backup of this format. */
async function expectFormat(handle: FileHandle, file: string): Promise<number> {
  const found = await handle.stat();
  if (!found.isFile()) throw new StartupError(`${file} is not a file.`);
  const start = await readRange(handle, { from: 0, to: Math.min(found.size, 40) });
  const format = /^baton-backup (\d{1,9})\n/.exec(start.toString('latin1'))?.[1];
  if (format === undefined) throw new StartupError(`${file} is not a backup of Baton.`);
  if (Number(format) > FORMAT)
    throw new StartupError(
      `${file} was made by a newer version of Baton (format ${Number(format)}; this version reads ${FORMAT}): restore it with that version.`,
    );
  if (!start.toString('latin1').startsWith(FIRST_LINE)) throw new StartupError(`${file} is not a backup of Baton.`);
  return found.size;
}

async function readTrailer(handle: FileHandle, size: number) {
  const from = size - OFFSET_BYTES - SUMS_BYTES;
  if (from < FIRST_LINE.length) return null;
  const trailer = parseTrailer(await readRange(handle, { from, to: size }));
  return trailer === null || trailer.manifestAt > from || trailer.manifestAt < FIRST_LINE.length ? null : trailer;
}

async function readRange(handle: FileHandle, { from, to }: Range): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
  return bytes.subarray(0, bytesRead);
}

/** A range of bytes; `to` is not in it. */
type Range = { from: number; to: number };

async function checksumOf(file: string, to: number): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { end: to - 1, highWaterMark: 1024 * 1024 })) hash.update(chunk);
  return hash.digest();
}

async function readManifest(handle: FileHandle, range: Range): Promise<Manifest | null> {
  const text = (await readRange(handle, range)).toString('utf8');
  try {
    return Manifest.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

async function* readTables(file: string, { from, to }: Range): AsyncGenerator<TableRows> {
  const gunzip = createGunzip();
  // A failure also ends the iteration below, which reports it; a reader that stops early destroys the stream, which is none.
  pipeline(createReadStream(file, { start: from, end: to - 1 }), gunzip).catch(() => undefined);
  try {
    yield* fromFrames(gunzip);
  } catch (error) {
    throw error instanceof StartupError ? error : unreadable(file, error as NodeJS.ErrnoException);
  } finally {
    gunzip.destroy();
  }
}
