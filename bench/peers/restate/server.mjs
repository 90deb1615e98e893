import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../server/platform/postgres/free-port.ts';

/** Starts Restate's server with its data in `folder`; `partitions` replaces its default. */
export async function startRestate(folder, partitions) {
  const [node, ingressPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const platform = `${process.platform}-${process.arch}`;
  const binary = createRequire(import.meta.url).resolve(`@restatedev/restate-server-${platform}/bin/restate-server`);
  const env = {
    PATH: process.env.PATH,
    RESTATE_BASE_DIR: join(folder.path, 'restate'),
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_INGRESS__BIND_PORT: String(ingressPort),
    RESTATE_ADMIN__BIND_PORT: String(adminPort),
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'warn',
    ...(partitions ? { RESTATE_DEFAULT_NUM_PARTITIONS: partitions } : {}),
  };
  const settings = execFileSync(binary, ['--dump-config'], { env, encoding: 'utf8' });
  if (!settings.includes('rocksdb-disable-wal-fsync = false') || settings.includes('rocksdb-disable-wal-fsync = true'))
    throw new Error('Restate does not write to disk.');
  const server = spawn(binary, ['--no-logo'], { stdio: ['ignore', 'pipe', 'pipe'], env });
  folder.own(server.pid);
  const log = createWriteStream(join(folder.path, 'restate.log'));
  server.stdout.pipe(log);
  server.stderr.pipe(log);
  const admin = `http://127.0.0.1:${adminPort}`;
  const ingress = `http://127.0.0.1:${ingressPort}`;
  const answers = url =>
    fetch(url).then(
      response => response.ok,
      () => false,
    );
  while (!(await answers(`${admin}/health`)) || !(await answers(`${ingress}/restate/health`))) {
    if (server.exitCode !== null) throw new Error('restate-server ended; it needs the ports it was given');
    await delay(50);
  }
  const query = async sql => {
    const response = await fetch(`${admin}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query: sql }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${sql}: ${text}`);
    return JSON.parse(text).rows;
  };
  const count = async sql => Number(Object.values((await query(sql))[0])[0]);
  return {
    ingress,
    pid: server.pid,
    async register(uri) {
      const response = await fetch(`${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri }),
      });
      if (!response.ok) throw new Error(`registering: ${await response.text()}`);
    },
    query,
    partitions: settings.match(/default-num-partitions = (\d+)/)?.[1] ?? 'unknown',
    /** The results of `ctx.run` in the stored journals. */
    recordedSteps: () => count(`SELECT count(*) AS n FROM sys_journal WHERE entry_type = 'Notification: Run'`),
    recordedRuns: () => count(`SELECT count(*) AS n FROM sys_invocation WHERE status = 'completed'`),
    async untilWaiting(runs) {
      const waiting = `SELECT count(*) AS n FROM sys_invocation WHERE target_service_name = 'question' AND status IN ('running', 'suspended')`;
      while ((await count(waiting)) < runs) await delay(100);
    },
    stop: () => server.kill('SIGTERM'),
  };
}
