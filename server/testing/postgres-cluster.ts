import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import {
  clusterUrl,
  initCluster,
  type Listen,
  openCluster,
  startCluster,
  withDatabase,
} from '../platform/postgres/cluster.ts';
import { freePort } from '../platform/postgres/free-port.ts';
import { migrate } from '../platform/postgres/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the migrated template database, on a server where we may create databases. */
    batonTemplateUrl: string;
    /** How CREATE DATABASE is told to copy files; PostgreSQL 14 knows no other way and no word for it. */
    batonCloneStrategy: string;
  }
}

/**
 * vitest's globalSetup: one PostgreSQL for the whole run, in a folder of its own, with one migrated template database.
 * `BATON_TEST_DATABASE_URL` names a server to use instead; `BATON_TEST_FSYNC=1` keeps fsync on (faults, benchmarks).
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.BATON_TEST_DATABASE_URL;
  const server = given ? { url: given, stop: async () => undefined } : await startTestCluster();
  const template = `baton_template_${process.pid}_${randomBytes(4).toString('hex')}`;
  const admin = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return await client.query(sql).finally(() => client.end());
  };
  try {
    await admin(`CREATE DATABASE ${template}`);
    await migrate(withDatabase(server.url, template));
  } catch (error) {
    await server.stop();
    throw error;
  }
  const version = await admin('SHOW server_version_num');
  project.provide('batonCloneStrategy', version.rows[0].server_version_num < 150_000 ? '' : 'STRATEGY file_copy');
  project.provide('batonTemplateUrl', withDatabase(server.url, template));
  return async () => {
    if (given) await admin(`DROP DATABASE ${template} WITH (FORCE)`);
    await server.stop();
  };
}

/** A throw-away cluster. It is stopped and its folder removed by `stop()`, or when this process ends in any way. */
export async function startTestCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-test-'));
  const cluster = await openCluster(join(folder, 'data'));
  if (cluster.user) await chown(folder, cluster.user.uid, cluster.user.gid);
  await chmod(folder, 0o755);
  // The reaper waits for its standard input to close, which the kernel does even after kill -9.
  const reaper = spawn(process.execPath, [fileURLToPath(new URL('./postgres-reaper.ts', import.meta.url)), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const reaped = new Promise<void>(resolve => reaper.once('exit', () => resolve()));
  // Neither may keep vitest alive; closing the pipe is what ends the reaper.
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
    return { url: clusterUrl(listen, password, 'postgres'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function testSettings(): Record<string, string | number> {
  const durable = process.env.BATON_TEST_FSYNC === '1';
  return {
    max_connections: 400,
    shared_buffers: '128MB',
    autovacuum: durable ? 'on' : 'off',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0 }),
  };
}
