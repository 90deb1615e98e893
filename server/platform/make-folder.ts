import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder with its parents; an existing one is unchanged. Not `mkdir` with `recursive`: on a file system that
 * answers ENOENT although the parent exists, such as /proc, Node 24 retries forever, on a thread that no signal
 * reaches. Throws the system's error.
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  const path = resolve(folder);
  try {
    await make(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path === dirname(path)) throw error;
    await makeFolder(dirname(path), mode);
    await make(path, mode);
  }
}

async function make(path: string, mode: number): Promise<void> {
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    // If a file has this path, the next operation on the folder fails. macOS and Windows answer EISDIR or EPERM for a root, which
    // exists.
    if (error.code !== 'EEXIST' && path !== dirname(path)) throw error;
  });
}
