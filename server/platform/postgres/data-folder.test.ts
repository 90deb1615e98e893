import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Places, prepareDataFolder } from './data-folder.ts';

let base: string;
let at: Places;

/** A clone that belongs to root in a folder of mode 0700, as under /root. */
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'baton-places-')));
  await chmod(base, 0o755);
  at = { checkout: join(base, 'root', 'clone'), system: join(base, 'system') };
  await mkdir(at.checkout, { recursive: true });
  await chmod(join(base, 'root'), 0o700);
});
afterEach(() => rm(base, { recursive: true, force: true }));

const prepare = (dataDir = join(at.checkout, '.data')) => prepareDataFolder(dataDir, at);

describe.runIf(process.getuid?.() === 0)('a clone that the PostgreSQL account cannot reach', () => {
  test('keeps its data in the system’s folder, under its own name', async () => {
    const { folder, cluster } = await prepare();
    expect(folder).toMatch(new RegExp(`^${at.system}/clone-[0-9a-f]{8}$`));
    expect(cluster.dataDir).toBe(join(folder, 'postgres'));
    expect(await realpath(join(at.checkout, '.data'))).toBe(folder);
    const other = { ...at, checkout: join(base, 'root', 'other', 'clone') };
    await mkdir(other.checkout, { recursive: true });
    expect((await prepareDataFolder(join(other.checkout, '.data'), other)).folder).not.toBe(folder);
  });

  test('finds its data again: at the next start, without its link, and once it can be reached', async () => {
    const { folder } = await prepare();
    await writeFile(join(folder, 'kept'), 'kept');
    expect((await prepare()).folder).toBe(folder);
    await rm(join(at.checkout, '.data'));
    expect((await prepare()).folder).toBe(folder);
    await chmod(join(base, 'root'), 0o755);
    expect((await prepare()).folder).toBe(folder);
    expect(await readFile(join(at.checkout, '.data', 'kept'), 'utf8')).toBe('kept');
  });

  test('an empty .data of an earlier start is replaced; one with content is not', async () => {
    await mkdir(join(at.checkout, '.data', 'postgres'), { recursive: true });
    await expect(prepare()).rejects.toThrow(/cannot take its place \(ENOTEMPTY.*BATON_DATA_DIR/);
    await writeFile(join(at.checkout, '.data', 'postgres', 'PG_VERSION'), '18\n');
    await expect(prepare()).rejects.toThrow(/may not enter .*root: set BATON_DATA_DIR/);
    await rm(join(at.checkout, '.data', 'postgres'), { recursive: true });
    expect((await prepare()).folder).toMatch(/system/);
  });

  test('a configured folder is never replaced', async () => {
    await expect(prepare(join(at.checkout, 'chosen'))).rejects.toThrow(/may not enter .*root: set BATON_DATA_DIR/);
  });
});

test('a clone that can be reached keeps its data in .data', async () => {
  await chmod(join(base, 'root'), 0o755);
  expect((await prepare()).folder).toBe(join(at.checkout, '.data'));
  expect((await lstat(join(at.checkout, '.data'))).isSymbolicLink()).toBe(false);
});
