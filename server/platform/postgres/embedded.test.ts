import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { scratchFolder } from '../../testing/scratch-folder.ts';
import { createLogger } from '../logger.ts';
import { clusterUrl, isRunning, openCluster, postmaster, stopCluster } from './cluster.ts';
import { openDatabase } from './database.ts';
import { isAlive } from './process-table.ts';
import { StartupError } from './startup-error.ts';

const logger = createLogger('silent');
const isRoot = process.getuid?.() === 0;
let folder: string;
/** A data folder that was stopped in order. */
let earlier: string;
const open = (dataDir = folder) => openDatabase({ database: { url: undefined, dataDir, pool: 4 } }, logger);

beforeAll(async () => {
  earlier = await mkdtemp(join(scratchFolder(), 'baton-embedded-'));
  await (await open(earlier)).close();
});
afterAll(() => rm(earlier, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(scratchFolder(), 'baton-embedded-'));
});
afterEach(async () => {
  await stopCluster(await openCluster(join(folder, 'postgres')), 'immediate');
  await rm(folder, { recursive: true, force: true });
});

/** Fills the folder as an earlier start did, with the owners of its files: to create a cluster takes a second of CPU. */
const startedEarlier = () => promisify(execFile)('cp', ['-a', `${earlier}/.`, folder]);

const refusal = async (opening: Promise<unknown>): Promise<string> => {
  const error = await opening.then(
    () => new Error('it started'),
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(StartupError);
  const message = (error as Error).message;
  expect(message).not.toContain('\n');
  return message;
};

/** Another Node process that opens the same folder and prints "ready"; the caller ends it. */
async function openInChild(): Promise<ReturnType<typeof spawn>> {
  const module = fileURLToPath(new URL('./database.ts', import.meta.url));
  const loggerModule = fileURLToPath(new URL('../logger.ts', import.meta.url));
  const code = `
    const { openDatabase } = await import(${JSON.stringify(module)});
    const { createLogger } = await import(${JSON.stringify(loggerModule)});
    const database = { url: undefined, dataDir: ${JSON.stringify(folder)}, pool: 4 };
    const { pool } = await openDatabase({ database }, createLogger('silent'));
    await pool.query("INSERT INTO tenants VALUES ('kept', 'Kept', '2026-01-01')");
    process.stdout.write('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  if (child.stdout) await once(child.stdout, 'data');
  return child;
}

test('creates, stops and restarts a cluster that only its owner can read', async () => {
  const first = await open();
  const { rows } = await first.pool.query<Record<string, string>>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
            current_setting('server_version_num') AS version`,
  );
  expect(rows[0]).toMatchObject({ fsync: 'on', commit: 'on' });
  await first.prisma.tenant.create({ data: { slug: 'kept', name: 'Kept', createdAt: new Date(0) } });
  await first.close();
  expect(await isRunning(await openCluster(join(folder, 'postgres')))).toBe(false);

  const second = await open();
  expect(await second.prisma.tenant.count()).toBe(1);
  await second.close();
  const { mode } = await import('node:fs/promises').then(fs => fs.stat(join(folder, 'postgres.password')));
  expect(mode & 0o777).toBe(0o600);
});

test('a PostgreSQL left behind by a killed process is adopted, with everything that it had committed', async () => {
  await startedEarlier();
  const child = await openInChild();
  const orphan = await postmaster(join(folder, 'postgres'));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const database = await open();
  expect(await database.prisma.tenant.count()).toBe(1);
  expect((await postmaster(join(folder, 'postgres')))?.pid).toBe(orphan?.pid);
  await database.close();
});

test('a second process on the same folder is refused, and the first one continues', async () => {
  await startedEarlier();
  const child = await openInChild();
  expect(await refusal(open())).toMatch(new RegExp(`Another Baton \\(process ${child.pid}\\) uses the data folder`));
  const running = await postmaster(join(folder, 'postgres'));
  expect(running).toBeDefined();
  child.kill('SIGKILL');
  await once(child, 'exit');
});

/**
 * Runs a shell script as PostgreSQL's account, whose process ids PostgreSQL respects; returns the pid that it prints.
 */
async function asCluster(script: string): Promise<{ pid: number; child: ReturnType<typeof spawn> }> {
  const user = (await openCluster(join(folder, 'postgres'))).user;
  const identity = user ? { uid: user.uid, gid: user.gid } : {};
  const child = spawn('/bin/sh', ['-c', script], { ...identity, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await once(child.stdout ?? child, 'data');
  return { pid: Number(String(printed)), child };
}

/** Leaves lock files like those of a crash, with a process id that is in use again. */
async function leaveLocks(pid: number | ''): Promise<void> {
  const dataDir = join(folder, 'postgres');
  const user = (await openCluster(dataDir)).user;
  const lines = [pid, dataDir, 1, 5432, dataDir, '', ''];
  for (const [name, text] of [
    ['postmaster.pid', [...lines, 'ready   ', ''].join('\n')],
    ['.s.PGSQL.5432.lock', lines.join('\n')],
  ] as const) {
    await writeFile(join(dataDir, name), pid === '' ? '' : text, { mode: 0o600 });
    if (user) await chown(join(dataDir, name), user.uid, user.gid);
  }
}

test('the lock files of a crash do not prevent the start, even if another process has their id', async () => {
  await startedEarlier();
  const other = await asCluster('echo $$; exec sleep 600');
  // After `exec` no parent is left to reap the first one.
  const zombie = await asCluster('sleep 0 & echo $!; exec sleep 600');
  const testCluster = new URL(inject('batonTemplate').url).searchParams.get('host');
  const elsewhere = testCluster === null ? undefined : (await postmaster(join(testCluster, 'data')))?.pid;
  try {
    for (const pid of [other.pid, zombie.pid, elsewhere ?? other.pid, '' as const]) {
      await leaveLocks(pid);
      const database = await open();
      await database.close();
    }
  } finally {
    other.child.kill('SIGKILL');
    zombie.child.kill('SIGKILL');
  }
});

test.runIf(process.platform === 'linux')(
  'a child that outlived a killed PostgreSQL is ended before another one starts',
  async () => {
    await startedEarlier();
    const child = await openInChild();
    const dataDir = join(folder, 'postgres');
    const killed = await postmaster(dataDir);
    const password = (await readFile(join(folder, 'postgres.password'), 'utf8')).trim();
    const client = new pg.Client(clusterUrl(killed?.listen ?? { host: '127.0.0.1', port: 0 }, password, 'postgres'));
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const survivor = rows[0]?.pid ?? 0;
    process.kill(survivor, 'SIGSTOP');
    child.kill('SIGKILL');
    process.kill(killed?.pid ?? 0, 'SIGKILL');
    await once(child, 'exit');
    const database = await open();
    expect(await isAlive(survivor)).toBe(false);
    expect(await database.prisma.tenant.count()).toBe(1);
    await database.close();
  },
);

test('PostgreSQL is restarted after it was killed', async () => {
  await startedEarlier();
  const database = await open();
  const before = await postmaster(join(folder, 'postgres'));
  expect(before?.pid).toBeGreaterThan(1);
  // Not through pg_ctl, which waits for the folder to be free: by then it may be in use again.
  process.kill(before?.pid ?? 0, 'SIGQUIT');
  await expect
    .poll(async () => {
      const now = await postmaster(join(folder, 'postgres'));
      if (now === undefined || now.pid === before?.pid) return false;
      const client = new pg.Client({ connectionString: database.url });
      client.on('error', () => undefined);
      return client
        .connect()
        .then(() => client.end())
        .then(
          () => true,
          () => false,
        );
    })
    .toBe(true);
  await database.close();
});

test('a folder of another major version is refused before anything touches it', async () => {
  await mkdir(join(folder, 'postgres'));
  await writeFile(join(folder, 'postgres', 'PG_VERSION'), '15\n');
  expect(await refusal(open())).toMatch(/was made by PostgreSQL 15 and this version of Baton brings PostgreSQL \d+/);
  expect(await readFile(join(folder, 'postgres', 'PG_VERSION'), 'utf8')).toBe('15\n');
});

test('the error names a folder that is not writable', async () => {
  await writeFile(join(folder, 'file'), '');
  expect(await refusal(open(join(folder, 'file', 'data')))).toMatch(/data folder .*file\/data cannot be written/);
});

test.runIf(isRoot)('a folder that the PostgreSQL account cannot reach is named', async () => {
  await mkdir(join(folder, 'home'));
  await chmod(join(folder, 'home'), 0o700);
  await chmod(folder, 0o755);
  expect(await refusal(open(join(folder, 'home', 'data')))).toMatch(/may not enter .*home: set BATON_DATA_DIR/);
});

test('a long path falls back to TCP on 127.0.0.1', async () => {
  const long = join(folder, 'x'.repeat(100));
  await mkdir(long);
  if (isRoot) await chmod(folder, 0o755);
  const database = await open(long);
  expect(new URL(database.url).hostname).toBe('127.0.0.1');
  await database.close();
});
