import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { scratchFolder } from '../../server/testing/scratch-folder.ts';
import { graphs } from '../faults/graphs.ts';
import { Scenario } from '../faults/scenario.ts';

const proxies = new URL('../../deploy/proxies/', import.meta.url);
const programs = { nginx: '/usr/sbin/nginx', caddy: '/usr/bin/caddy' };
const asked = process.env.BATON_TEST_DEPLOY === '1';
const isMissing = (name: keyof typeof programs) => !asked || !existsSync(programs[name]);
for (const name of ['nginx', 'caddy'] as const)
  if (isMissing(name))
    process.stdout.write(
      `${name} is left out: there is no ${asked ? programs[name] : 'BATON_TEST_DEPLOY=1'} (docs/reverse-proxies.md)\n`,
    );

/** The address from which the client connects: a service that trusts its proxy sees it, and not the proxy's. */
const CLIENT = '127.0.0.2';

let folder: string;
let scenario: Scenario;
let port: number;
let proxy: ChildProcess | undefined;
let ca: Buffer;

beforeAll(async () => {
  if (isMissing('nginx') && isMissing('caddy')) return;
  folder = await mkdtemp(join(scratchFolder(), 'baton-proxy-'));
  port = await freePort();
  scenario = await Scenario.open('proxies', {
    env: { BATON_URL: `https://localhost:${port}`, BATON_TRUSTED_PROXIES: '1' },
  });
});
afterAll(async () => {
  await scenario?.installation[Symbol.asyncDispose]();
  await scenario?.pool.end().catch(() => undefined);
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function startNginx(): Promise<ChildProcess> {
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
  ]);
  const site = (await readFile(new URL('nginx.conf', proxies), 'utf8'))
    .replaceAll('baton.example.com', 'localhost')
    .replace('127.0.0.1:3000', `127.0.0.1:${scenario.port}`)
    .replace('listen 80;', `listen 127.0.0.1:${await freePort()};`)
    .replace('listen 443 ', `listen 127.0.0.1:${port} `)
    .replace('/etc/ssl/baton.crt', certificate)
    .replace('/etc/ssl/baton.key', key);
  await writeFile(join(folder, 'site.conf'), site);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map(name => `${name}_temp_path ${join(folder, name)};`).join(' ');
  const main = `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr; events {}
    http { access_log off; ${paths} include ${folder}/site.conf; }`;
  await writeFile(join(folder, 'nginx.conf'), main);
  ca = await readFile(certificate);
  return spawn(programs.nginx, ['-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
}

async function startCaddy(): Promise<ChildProcess> {
  const child = spawn(
    programs.caddy,
    ['run', '--config', new URL('Caddyfile', proxies).pathname, '--adapter', 'caddyfile'],
    {
      env: {
        NODE_ENV: 'production',
        PATH: process.env.PATH,
        HOME: folder,
        XDG_DATA_HOME: folder,
        SITE: `https://localhost:${port}`,
        HTTP_PORT: String(await freePort()),
        NODES: `127.0.0.1:${scenario.port}`,
      },
      stdio: 'ignore',
    },
  );
  const root = join(folder, 'caddy', 'pki', 'authorities', 'local', 'root.crt');
  await expect.poll(() => existsSync(root)).toBe(true);
  ca = await readFile(root);
  return child;
}

type Received = {
  status: number;
  headers: Record<string, unknown>;
  body: AsyncIterable<Buffer> & NodeJS.ReadableStream;
};

/** Sends a request through the proxy, and settles with the beginning of its answer. */
function send(path: string, { method = 'GET', body }: { method?: string; body?: unknown } = {}): Promise<Received> {
  const headers = { Authorization: scenario.client.authorization, 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: 'localhost', port, family: 4, path, method, headers, ca, localAddress: CLIENT },
      answer => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: answer }),
    );
    sent.once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Collects what a stream of server-sent events has brought so far. */
async function follow(path: string): Promise<() => string> {
  const { status, headers, body } = await send(path);
  expect([status, headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  let seen = '';
  body.on('data', chunk => {
    seen += String(chunk);
  });
  return () => seen;
}

test.skipIf(isMissing('nginx') && isMissing('caddy')).each(['nginx', 'caddy'] as const)(
  '%s: TLS, a WebSocket, server-sent events as they happen, and the address of the client',
  async name => {
    if (isMissing(name)) return;
    proxy = await (name === 'nginx' ? startNginx() : startCaddy());
    try {
      await expect
        .poll(() =>
          send('/readyz').then(
            ({ status }) => status,
            () => 0,
          ),
        )
        .toBe(200);
      expect((await send('/v1/workflows')).headers['strict-transport-security']).toContain('max-age');

      const workflow = await scenario.publish(`approval behind ${name}`, graphs.approval);
      const started = await send(`/v1/workflows/${workflow}/command`, {
        method: 'POST',
        body: { command: 'start', params: { trigger_payload: { n: 1 }, n: 1 } },
      });
      const run = (JSON.parse(await text(started.body)) as { run_id: string }).run_id;
      const events = await follow(`/v1/workflows/${workflow}/runs/${run}/stream`);
      const frames: string[] = [];
      const socket = new WebSocket(`wss://localhost:${port}/v1/workflows/${workflow}/stream?run_id=${run}&after=0`, {
        ca,
        family: 4,
        localAddress: CLIENT,
        headers: { Authorization: scenario.client.authorization },
      });
      socket.on('message', frame => frames.push(String(frame)));
      // The run waits for a person and both streams stay open: a buffer would hold the events back.
      await expect.poll(events).toContain('approve');
      await expect.poll(() => frames.join('\n')).toContain('approve');
      const done = `/v1/workflows/${workflow}/runs/${run}/tasks/approve/complete`;
      expect((await send(done, { method: 'POST', body: { approved: true } })).status).toBe(200);
      await expect.poll(events).toContain('ship');
      await expect.poll(() => frames.join('\n')).toContain('ship');
      socket.terminate();

      const entries = JSON.parse(await text((await send('/v1/audit-log?limit=50')).body)) as Record<string, unknown>;
      expect(JSON.stringify(entries)).toContain(`"client_address":"${CLIENT}"`);
    } finally {
      const ended = new Promise(resolve => proxy?.once('exit', resolve));
      proxy.kill('SIGTERM');
      await ended;
    }
  },
);
