import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const IN_MEMORY = '/dev/shm';
/** The free memory that is required. Data folders of tests take less than 1 GiB; the other 3 are for the rest of the machine. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Returns the folder in which tests create data folders of PostgreSQL: in memory if enough is free, else the temporary
 * folder. A database is 700 files; creating them on ext4 just after those of other databases were removed takes ten
 * times the CPU.
 */
export function scratchFolder(): string {
  return hasRoom() && process.availableMemory() > NEEDED_BYTES ? IN_MEMORY : tmpdir();
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize > NEEDED_BYTES;
  } catch {
    return false;
  }
}
