import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { generatePatToken } from '../../server/domains/identity/pats/token.ts';
import { isRunning, openCluster, postmaster, stopCluster } from '../../server/platform/postgres/cluster.ts';
import { checkVersion } from '../../server/platform/postgres/database.ts';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { COMPILE_CACHE } from '../../server/testing/compile-cache.ts';
import { launch, newDataDir, startServer } from '../fixtures/server.ts';

let dataDir: string;
const cluster = () => openCluster(join(dataDir, 'postgres'));

async function removeDataDir(): Promise<void> {
  await stopCluster(await cluster(), 'immediate');
  await rm(dataDir, { recursive: true, force: true });
}

/** Starts a server that must refuse to start. Returns its exit code and the lines of its output. */
async function startRefused(env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const { process: child, output } = launch({
    PORT: String(await freePort()),
    BATON_DATA_DIR: dataDir,
    BATON_LOG_LEVEL: 'silent',
    ...env,
  });
  await once(child, 'close');
  return { code: child.exitCode, lines: output().trim().split('\n') };
}

describe('a start that cannot succeed says why in one line', () => {
  beforeEach(async () => {
    dataDir = await newDataDir();
  });
  afterEach(removeDataDir);

  test('the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, lines } = await startRefused({ PORT: String(port) });
    other.close();
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(new RegExp(`Port ${port} .*in use.*PORT`))]);
    expect(await isRunning(await cluster())).toBe(false);
  });

  test('the data folder cannot be written', async () => {
    await writeFile(join(dataDir, 'file'), '');
    const { code, lines } = await startRefused({ BATON_DATA_DIR: join(dataDir, 'file', 'data') });
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/data folder .*cannot be written.*BATON_DATA_DIR/)]);
  });

  test.runIf(process.platform === 'linux')('the data folder is on a file system that accepts no folders', async () => {
    const { code, lines } = await startRefused({ BATON_DATA_DIR: '/proc/baton' });
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/data folder \/proc\/baton cannot be written.*BATON_DATA_DIR/)]);
  });

  test.runIf(process.getuid?.() === 0)("the data folder is out of the PostgreSQL account's reach", async () => {
    await mkdir(join(dataDir, 'home'));
    await chmod(join(dataDir, 'home'), 0o700);
    const { code, lines } = await startRefused({ BATON_DATA_DIR: join(dataDir, 'home', 'data') });
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/may not enter .*home.*BATON_DATA_DIR/)]);
  });

  test('the database cannot be reached, and its password is not shown', async () => {
    const port = await freePort();
    const { code, lines } = await startRefused({ DATABASE_URL: `postgresql://u:s3cret@127.0.0.1:${port}/baton` });
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(new RegExp(`database 127.0.0.1:${port}/baton cannot be reached`))]);
    expect(lines.join()).not.toContain('s3cret');
  });

  test('the database is too old', () => {
    expect(() => checkVersion(130_014, '13.14')).toThrow(
      /^The database is PostgreSQL 13\.14; Baton needs PostgreSQL 14/,
    );
    expect(() => checkVersion(140_000, '14.0')).not.toThrow();
  });

  test('a setting is wrong', async () => {
    const { code, lines } = await startRefused({ PORT: 'http', BATON_DATABASE_POOL: '1' });
    expect(code).toBe(1);
    expect(lines.filter(line => /^(PORT|BATON_DATABASE_POOL): /.test(line))).toHaveLength(2);
  });
});

describe('a server that runs', () => {
  // The tests share a data folder, because creating and filling a database costs 2 s of CPU. Each test stops its
  // server.
  beforeAll(async () => {
    dataDir = await newDataDir();
  });
  afterAll(removeDataDir);
  const env = { BATON_PAT: generatePatToken() };

  test('refuses a second server on its data folder, and on SIGTERM exits with 0 and stops PostgreSQL', async () => {
    const server = await startServer({ dataDir, env });
    const { code, lines } = await startRefused({});
    expect(code).toBe(1);
    expect(lines).toEqual([expect.stringMatching(new RegExp(`Another Baton \\(process ${server.pid}\\) uses`))]);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(await isRunning(await cluster())).toBe(false);
  });

  test('after kill -9 it starts again with all data that it had acknowledged', async () => {
    const first = await startServer({ dataDir, env });
    const headers = { Authorization: `Bearer ${first.pat}`, 'Content-Type': 'application/json' };
    const created = await fetch(`${first.url}/v1/workflows`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'survivor' }),
    });
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    await first.kill();
    expect(await postmaster(join(dataDir, 'postgres'))).toBeDefined();
    const second = await startServer({ dataDir, env });
    const read = await fetch(`${second.url}/v1/workflows/${id}`, { headers });
    expect(read.status).toBe(200);
    expect(await second.stop()).toBe(0);
  });

  test('Ctrl-C at a terminal, which npm forwards a second time, stops it in order', async () => {
    const module = fileURLToPath(new URL('../../bin/supervise.mjs', import.meta.url));
    const port = await freePort();
    const code = `
      const { supervise } = await import(${JSON.stringify(module)});
      process.exitCode = await supervise(['bin/serve.mjs']);`;
    const { PATH = '', HOME = '' } = process.env;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
      env: {
        PATH,
        HOME,
        ...COMPILE_CACHE,
        NODE_ENV: 'production',
        PORT: String(port),
        BATON_DATA_DIR: dataDir,
        BATON_SEED: 'none',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${port}/readyz`)
            .then(answer => answer.status)
            .catch(() => 0),
        { interval: 100 },
      )
      .toBe(200);
    parent.kill('SIGINT');
    parent.kill('SIGINT');
    await once(parent, 'exit');
    expect(parent.exitCode).toBe(0);
    expect(await isRunning(await cluster())).toBe(false);
  });
});
