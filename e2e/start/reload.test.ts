import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { generatePatToken } from '../../server/domains/identity/pats/token.ts';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { COMPILE_CACHE } from '../../server/testing/compile-cache.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Client } from '../faults/client.ts';

const starter = fileURLToPath(new URL('../fixtures/reload-without-console.mjs', import.meta.url));

/** Starts the service as `npm run dev` does, with sources in an empty folder. */
async function startReloading(databaseUrl: string) {
  const sources = await mkdtemp(join(tmpdir(), 'baton-sources-'));
  const dataDir = await mkdtemp(join(tmpdir(), 'baton-data-'));
  const { PATH = '', HOME = '' } = process.env;
  const [port, pat] = [await freePort(), generatePatToken()];
  const env = {
    ...{ PATH, HOME, NODE_ENV: 'production', ...COMPILE_CACHE },
    ...{ PORT: String(port), DATABASE_URL: databaseUrl, BATON_DATA_DIR: dataDir, BATON_SEED: 'none' },
    ...{ BATON_OWNER_EMAIL: 'owner@example.com', BATON_OWNER_PASSWORD: 'a long password', BATON_PAT: pat },
  };
  const child = spawn(process.execPath, [starter, sources], { env: env as NodeJS.ProcessEnv });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk));
  return {
    client: new Client(`http://127.0.0.1:${port}`, pat),
    output: () => output,
    count: (text: string) => output.split(text).length - 1,
    /** Returns the id of the process that serves, which is the only child of the supervisor. */
    servicePid() {
      const table = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' });
      const processes = table.split('\n').map(line => line.trim().split(/\s+/).map(Number));
      return processes.find(([, parent]) => parent === child.pid)?.[0] ?? 0;
    },
    save: (name: string) => writeFile(join(sources, name), 'export {};\n'),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = await ended;
      return code as number;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) await this.stop();
      for (const folder of [sources, dataDir]) await rm(folder, { recursive: true, force: true });
    },
  };
}

test('saving a server file restarts the service, running or killed, and its runs continue', async () => {
  await using db = await createTestDatabase();
  await using dev = await startReloading(db.url);
  const waitForStarts = (times: number) =>
    expect.poll(() => dev.count('Baton is ready'), { message: dev.output() }).toBe(times);
  await waitForStarts(1);
  const steps = [
    { id: 'pause', type: 'wait', seconds: 4 },
    { id: 'after', type: 'lua_script', script: 'return 1', depends_on: ['pause'] },
  ];
  const { body: workflow } = await dev.client.call('POST', '/v1/workflows', { name: 'Goes on', graph: { steps } });
  const path = `/v1/workflows/${workflow.id}`;
  expect((await dev.client.call('POST', `${path}/versions`, { changelog: 'First' })).status).toBeLessThan(300);
  const { body: run } = await dev.client.call('POST', `${path}/command`, { command: 'start', params: {} });
  expect(run.run_id).toBeTypeOf('string');

  // Files that are not part of the service change nothing.
  await dev.save('some.test.ts');
  await dev.save('some.txt');
  await dev.save('some.ts');
  await waitForStarts(2);
  const status = async () => (await dev.client.call('GET', `${path}/runs/${run.run_id}/summary`)).body.status;
  await expect.poll(status, { message: dev.output() }).toBe('completed');

  process.kill(dev.servicePid(), 'SIGKILL');
  await expect.poll(dev.output).toContain('was killed by SIGKILL; it starts again when a file in server/ changes');
  await dev.save('other.json');
  await waitForStarts(3);
  expect(dev.count('server/ has changed')).toBe(1);
  expect(await dev.stop()).toBe(0);
});
