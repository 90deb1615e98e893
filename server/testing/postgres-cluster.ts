import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import {
  CLUSTER_USER,
  clusterUrl,
  initCluster,
  type Listen,
  openCluster,
  startCluster,
} from '../platform/postgres/cluster.ts';
import { freePort } from '../platform/postgres/free-port.ts';
import { COMPILE_CACHE } from './compile-cache.ts';
import { createTemplate, dropDatabase, query, type Template } from './postgres-template.ts';
import { scratchFolder } from './scratch-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    batonTemplate: Template;
  }
}

/**
 * vitest's globalSetup: one PostgreSQL for the whole run, with one migrated template database, and a compile cache for the
 * workers and the programs that tests start.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  Object.assign(process.env, COMPILE_CACHE);
  const { template, stop } = await startTemplate();
  project.provide('batonTemplate', template);
  return stop;
}

/**
 * Creates a migrated template database on a separate PostgreSQL. `BATON_TEST_DATABASE_URL` names a server to use
 * instead; `BATON_TEST_FSYNC=1` keeps fsync on (faults, benchmarks).
 */
export async function startTemplate(): Promise<{ template: Template; stop(): Promise<void> }> {
  const given = process.env.BATON_TEST_DATABASE_URL;
  const server = given ? { url: given, stop: async () => undefined } : await startTestCluster();
  try {
    const template = await createTemplate(server.url);
    return {
      template,
      async stop() {
        if (given) await dropDatabase(template.url);
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Starts a temporary cluster. It is stopped and its folder removed by `stop()`, or however this process ends. */
export async function startTestCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(isDurable() ? tmpdir() : scratchFolder(), 'baton-test-'));
  const cluster = await openCluster(join(folder, 'data'));
  if (cluster.user) await chown(folder, cluster.user.uid, cluster.user.gid);
  await chmod(folder, 0o755);
  // The reaper waits for its standard input to close, which the kernel does even after kill -9.
  const reaper = spawn(
    process.execPath,
    [fileURLToPath(new URL('../platform/postgres/cluster-reaper.ts', import.meta.url)), folder],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    },
  );
  const reaped = new Promise<void>(resolve => reaper.once('exit', () => resolve()));
  // Neither the reaper nor its pipe may keep vitest alive; closing the pipe ends the reaper.
  reaper.unref();
  const password = randomBytes(12).toString('hex');
  const stop = async () => {
    reaper.ref();
    reaper.stdin.end();
    await reaped;
  };
  try {
    await initCluster(cluster, password, false);
    const listen: Listen =
      process.platform === 'win32' ? { host: '127.0.0.1', port: await freePort() } : { socketDir: folder, port: 5432 };
    await startCluster(cluster, listen, testSettings(), join(folder, 'postgres.log'));
    const url = clusterUrl(listen, password, 'postgres');
    // By default a client hashes the password 4,096 times for each of its sessions: a quarter of its CPU to connect.
    await query(url, `SET scram_iterations = 1; ALTER ROLE ${CLUSTER_USER} PASSWORD '${password}'`);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const isDurable = () => process.env.BATON_TEST_FSYNC === '1';

function testSettings(): Record<string, string | number> {
  const durable = isDurable();
  return {
    max_connections: 400,
    shared_buffers: '128MB',
    autovacuum: durable ? 'on' : 'off',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0 }),
  };
}
