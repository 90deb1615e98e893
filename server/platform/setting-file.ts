import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** `problem` completes a sentence that begins with the variable's name. It repeats neither the file nor its name, which may be a secret. */
export type SettingFile = { text: string } | { problem: string };

/** Reads a file that a variable names, of at most `limit` bytes. A pipe is refused: the start would wait for its writer. */
export function readSettingFile(path: string, limit: number): SettingFile {
  let file: number | undefined;
  try {
    // Without waiting, so that a pipe can be refused.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!fstatSync(file).isFile()) return { problem: 'what it names is not a regular file' };
    const bytes = readUpTo(file, limit + 1);
    if (bytes.length > limit) return { problem: `its file is larger than ${limit / 1024} KiB` };
    return decode(bytes);
  } catch (error) {
    return { problem: `its file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})` };
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Reads what there is, and not what the file's size says: files in /proc and the like have none. */
function readUpTo(file: number, limit: number): Buffer {
  const bytes = Buffer.alloc(limit);
  let read = 0;
  for (let more = 1; more > 0 && read < limit; read += more) more = readSync(file, bytes, read, limit - read, null);
  return bytes.subarray(0, read);
}

function decode(bytes: Buffer): SettingFile {
  try {
    // A byte order mark is dropped.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text.includes('\0')) return { problem: 'its file is not text' };
    return text.trim() === '' ? { problem: 'its file is empty' } : { text };
  } catch {
    return { problem: 'its file is not text in UTF-8' };
  }
}
