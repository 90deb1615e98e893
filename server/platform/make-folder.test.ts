import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

test('creates a folder with its parents, and leaves an existing one unchanged', async () => {
  const base = await mkdtemp(join(tmpdir(), 'baton-folder-'));
  const path = join(base, 'a', 'b', 'c');
  await makeFolder(path, 0o700);
  await makeFolder(path, 0o755);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await writeFile(join(base, 'file'), '');
  await expect(makeFolder(join(base, 'file', 'x'))).rejects.toThrow(/ENOTDIR/);
  await rm(base, { recursive: true });
});

test.runIf(process.platform === 'linux')('fails on a file system that accepts no folders', async () => {
  await expect(makeFolder('/proc/baton/data')).rejects.toThrow(/ENOENT/);
  await expect(makeFolder('/proc/baton')).rejects.toThrow(/ENOENT/);
});
