import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listen } from '../api/edge.ts';
import { listenFailure, starting } from '../api/http-server.ts';
import { createLogger } from '../platform/logger.ts';
import { COMPILE_CACHE } from '../testing/compile-cache.ts';
import { testConfig } from '../testing/identity.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

/** Starts the process and waits for its end. */
function run(env: Record<string, string>): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ['--experimental-wasm-modules', main], {
    env: {
      NODE_ENV: 'production',
      PATH: process.env.PATH,
      NODE_NO_WARNINGS: '1',
      BATON_LOG_LEVEL: 'silent',
      ...COMPILE_CACHE,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', chunk => {
    stderr += chunk;
  });
  return new Promise(resolve => child.once('close', code => resolve({ code, stderr })));
}

test('a port in use gives one clear line, and nothing was created', async () => {
  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const folder = await mkdtemp(join(tmpdir(), 'baton-main-'));
  const { code, stderr } = await run({ PORT: String(port), BATON_DATA_DIR: join(folder, 'data') });
  expect(code).toBe(1);
  expect(stderr).toBe(`baton: Port ${port} on 127.0.0.1 is in use: stop what listens there, or set PORT.\n`);
  await rm(folder, { recursive: true });
  await new Promise(resolve => taken.close(resolve));
});

test('an unusable configuration names each bad variable before anything is created', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-main-'));
  const { code, stderr } = await run({
    PORT: 'http',
    BATON_TENANT: 'Not A Slug',
    BATON_OWNER_EMAIL: 'nobody',
    BATON_PAT: 'pat_x',
    BATON_MASTER_KEY: 'short',
    BATON_PLANS_FILE: '/no/plans.json',
    BATON_RETENTION_DAY: '3',
    BATON_DATA_DIR: join(folder, 'data'),
  });
  expect(code).toBe(1);
  expect(stderr.split('\n').filter(Boolean)).toEqual([
    'baton: BATON_RETENTION_DAY is not a setting and is ignored: did you mean BATON_RETENTION_DAYS? (docs/configuration.md)',
    'baton: the configuration cannot be used:',
    expect.stringMatching(/^PORT: /),
    expect.stringMatching(/^BATON_TENANT: /),
    expect.stringMatching(/^BATON_MASTER_KEY: /),
    expect.stringMatching(/^BATON_OWNER_EMAIL: /),
    expect.stringMatching(/^BATON_PAT: /),
    expect.stringMatching(/^BATON_OWNER_PASSWORD: /),
    expect.stringMatching(/^BATON_PLANS_FILE: /),
    expect.stringMatching(/^ {2}ENOENT/),
  ]);
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

test('a host that is not of this machine, or is not a valid name, gives one clear line', async () => {
  const optionsFor = (host: string) => ({ host, port: 0 });
  const options = { ...testConfig().http, logger: createLogger('silent') };
  const error = await listen(optionsFor('192.0.2.1'), () => starting, options).catch(thrown => thrown);
  expect(listenFailure(error, optionsFor('192.0.2.1'))).toMatch(
    /^HOST=192\.0\.2\.1 is not an address of this machine: .*$/,
  );
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    const failure = listenFailure(Object.assign(new Error(), { code }), optionsFor('nowhere'));
    expect(failure).toMatch(/^HOST=nowhere is a name that does not resolve \(\w+\): .*$/);
  }
});

test('an unreachable database gives one clear line without its password', async () => {
  const url = 'postgresql://u:sw0rdfish@127.0.0.1:1/db';
  const { code, stderr } = await run({ PORT: '0', DATABASE_URL: url });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^baton: The database 127\.0\.0\.1:1\/db cannot be reached: .*\n$/);
  expect(stderr).not.toContain('sw0rdfish');
});

test('settings and secrets come from files, which a bad one ends with one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-main-'));
  const [url, settings] = [join(folder, 'url'), join(folder, 'baton.env')];
  await writeFile(url, 'postgresql://u:sw0rdfish@127.0.0.1:1/from-a-file\n');
  await writeFile(settings, `PORT=0\nPORTT=1\nDATABASE_URL_FILE=${url}\n`);
  const { code, stderr } = await run({ BATON_CONFIG: settings });
  expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
    code: 1,
    lines: [
      'baton: PORTT in the file of BATON_CONFIG is not a setting and is ignored: did you mean PORT? (docs/configuration.md)',
      expect.stringMatching(/^baton: The database 127\.0\.0\.1:1\/from-a-file cannot be reached: /),
    ],
  });
  const refused = await run({ BATON_CONFIG: settings, DATABASE_URL_FILE: join(folder, 'absent') });
  expect(refused.stderr.split('\n').slice(-3)).toEqual([
    'baton: the configuration cannot be used:',
    'DATABASE_URL_FILE: its file cannot be read (ENOENT)',
    '',
  ]);
  await rm(folder, { recursive: true });
});
