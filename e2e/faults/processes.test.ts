import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type Cluster,
  isRunning,
  openCluster,
  postmaster,
  stopCluster,
} from '../../server/platform/postgres/cluster.ts';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { isAlive } from '../../server/platform/postgres/process-table.ts';
import { COMPILE_CACHE } from '../../server/testing/compile-cache.ts';
import { newDataDir } from '../fixtures/server.ts';
import { rounds } from './random.ts';

/** Signals each process of the chain npm → sh → start.mjs → serve.mjs → postgres of a real `npm start`. */
const starter = fileURLToPath(new URL('../fixtures/start-without-console.mjs', import.meta.url));
// These tests start the service up to three times, on a machine that may be busy.
vi.setConfig({ testTimeout: 150_000 });

const READY = 'Baton is ready';
const READY_WITHIN_MS = 60_000;

let folder: string;
let dataDir: string;
let cluster: Cluster;
const startedPids: number[] = [];

beforeAll(async () => {
  dataDir = await newDataDir();
  // The cluster is opened only once, because opening it starts programs, and the tests inspect it repeatedly.
  cluster = await openCluster(join(dataDir, 'postgres'));
  folder = await mkdtemp(join(tmpdir(), 'baton-npm-'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { start: `node ${starter}` } }));
});
// A failed test must not leave a service behind.
afterEach(async () => {
  for (const pid of startedPids.splice(0)) if (pid > 0 && (await isAlive(pid))) process.kill(pid, 'SIGKILL');
});
afterAll(async () => {
  await stopCluster(cluster, 'immediate');
  for (const path of [folder, dataDir]) await rm(path, { recursive: true, force: true });
});

type Started = {
  npm: number;
  child: ChildProcess;
  port: number;
  output(): string;
  /** Resolves when the service has reported that it is ready, once for each call. */
  announced(): Promise<void>;
};
/** The processes from npm to the service; `shell` is npm itself if the shell replaced itself with its command. */
type Chain = { npm: number; shell: number; start: number; serve: number };

/** Starts `npm start` in a separate shell, which waits for npm or (`detached`) ends immediately. */
async function launch({ detached = false } = {}): Promise<Started> {
  const port = await freePort();
  const { PATH = '', HOME = '' } = process.env;
  const env = {
    PATH,
    HOME,
    NODE_ENV: 'production',
    PORT: String(port),
    BATON_DATA_DIR: dataDir,
    BATON_SEED: 'none',
    ...COMPILE_CACHE,
  };
  const command = `npm start & echo "npm is $!"; ${detached ? 'exit' : 'wait'}`;
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: folder,
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let searchedUntil = 0;
  const printed = new EventEmitter();
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output += chunk;
      printed.emit('more');
    });
  const announced = async () => {
    const deadline = AbortSignal.timeout(READY_WITHIN_MS);
    while (output.indexOf(READY, searchedUntil) < 0)
      await once(printed, 'more', { signal: deadline }).catch((cause: Error) => {
        throw new Error(`the service did not become ready:\n${output}`, { cause });
      });
    searchedUntil = output.indexOf(READY, searchedUntil) + READY.length;
  };
  await expect.poll(() => output).toMatch(/npm is \d+/);
  return { npm: Number(/npm is (\d+)/.exec(output)?.[1]), child, port, output: () => output, announced };
}

const status = (port: number): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    answer => answer.status,
    () => 0,
  );

/** Waits until the service serves; returns its processes. */
async function waitForService({ npm, port, output, announced }: Started): Promise<Chain> {
  // Without this wait, refused requests every 20 ms during a start would cost as much CPU as the start.
  await announced();
  await expect.poll(() => status(port), { message: output() }).toBe(200);
  const below = [npm];
  const processes = processTable();
  for (let pid: number | undefined = npm; pid !== undefined; ) {
    pid = processes.find(one => one.parent === pid && !one.command.includes('ps -ww'))?.pid;
    if (pid !== undefined) below.push(pid);
    if (processes.some(one => one.pid === pid && one.command.includes('bin/serve.mjs'))) break;
  }
  startedPids.push(...below);
  const [serve = 0, start = 0, shell = 0] = below.reverse();
  return { npm, shell, start, serve };
}

function processTable(): { pid: number; parent: number; command: string }[] {
  return execFileSync('ps', ['-ww', '-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'command='], { encoding: 'utf8' })
    .split('\n')
    .map(line => /^\s*(\d+)\s+(\d+)\s+(.*)/.exec(line))
    .map(found => ({ pid: Number(found?.[1]), parent: Number(found?.[2]), command: found?.[3] ?? '' }));
}

/** Waits until no process of the chain is left, and no PostgreSQL. */
async function waitForEnd({ npm, shell, start, serve }: Chain, { output }: Started): Promise<void> {
  const isAnyAlive = async () => {
    const alive = await Promise.all([npm, shell, start, serve].map(isAlive));
    return alive.includes(true) || (await isRunning(cluster));
  };
  await expect.poll(isAnyAlive, { message: output(), interval: 50 }).toBe(false);
}

test('npm start survives the end of its shell, restarts a killed service, and ends when npm is killed', async () => {
  const started = await launch({ detached: true });
  const first = await waitForService(started);
  expect(await isAlive(started.child.pid ?? 0)).toBe(false);

  process.kill(first.serve, 'SIGKILL');
  await expect.poll(started.output).toMatch(/the service was killed by SIGKILL; starting it again in 1 s/);
  const second = await waitForService(started);
  expect(second).toEqual({ ...first, serve: second.serve });
  expect(second.serve).not.toBe(first.serve);

  process.kill(first.npm, 'SIGKILL');
  await waitForEnd(second, started);
  expect(started.output()).toMatch(new RegExp(`npm's process ${first.npm} has ended: stopping the service`));
});

test('a service with an uncaught error that cannot shut down is killed and started again', async () => {
  const started = await launch();
  const first = await waitForService(started);
  process.kill(first.serve, 'SIGUSR2');
  await expect.poll(started.output).toMatch(/the service was killed by SIGKILL; starting it again/);
  expect(started.output()).toContain('a defect made by a test');
  const second = await waitForService(started);
  expect(second.serve).not.toBe(first.serve);
  process.kill(second.start, 'SIGTERM');
  await waitForEnd(second, started);
});

const endings = [
  ['npm', 'SIGTERM'],
  ['start', 'SIGKILL'],
  // The end of these processes is noticed in the same ways as above.
  ['npm', 'SIGHUP'],
  ['shell', 'SIGTERM'],
  ['shell', 'SIGKILL'],
  ['start', 'SIGTERM'],
  ['serve', 'SIGTERM'],
] as const;
test.each(rounds > 1 ? endings : endings.slice(0, 2))(
  '%s ended by %s ends the service and PostgreSQL in order',
  async (name, signal) => {
    const started = await launch();
    const chain = await waitForService(started);
    process.kill(chain[name], signal);
    await waitForEnd(chain, started);
    expect(started.output()).toContain('"msg":"stopping"');
  },
);

test('a stop before the restart of a killed service also ends its PostgreSQL', async () => {
  const started = await launch();
  const chain = await waitForService(started);
  process.kill(chain.serve, 'SIGKILL');
  await expect.poll(started.output).toMatch(/starting it again in 1 s/);
  expect(await postmaster(join(dataDir, 'postgres'))).toBeDefined();
  process.kill(chain.start, 'SIGTERM');
  await waitForEnd(chain, started);
  expect(started.output().match(/Baton is ready/g)).toHaveLength(1);
});
