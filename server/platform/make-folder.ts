import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it. Node's own `recursive` never returns where the file system answers ENOENT below a folder
 * that exists, as /proc does. Throws the system's error.
 */
export async function makeFolder(folder: string): Promise<void> {
  const path = resolve(folder);
  try {
    await make(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  await mkdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  });
}
