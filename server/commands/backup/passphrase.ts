import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { StartupError } from '../../platform/postgres/startup-error.ts';

/** A thief of the file can try as many passphrases as they like. */
const MIN_LENGTH = 16;

/**
 * Reads a passphrase from a file, or from standard input for `-`: a variable or an argument would be shown to other processes. A line
 * break at the end is not part of it. Throws StartupError.
 */
export async function readPassphrase(file: string): Promise<string> {
  const read = file === '-' ? text(process.stdin) : readFile(file, 'utf8');
  const passphrase = (
    await read.catch((cause: NodeJS.ErrnoException) => {
      throw new StartupError(`The passphrase file ${file} cannot be read (${cause.code ?? 'unknown error'}).`, {
        cause,
      });
    })
  ).replace(/\r?\n$/, '');
  if (passphrase.length < MIN_LENGTH)
    throw new StartupError(`The passphrase must have at least ${MIN_LENGTH} characters (openssl rand -base64 24).`);
  return passphrase;
}
