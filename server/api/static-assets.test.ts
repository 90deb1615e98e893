import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compressAssets } from '../../bin/compress-assets.mjs';
import { type StaticAssets, serveStaticAssets } from './static-assets.ts';

const PREFIX = '/_next/static/';
const script = 'export const greeting = "Grüße";\n'.repeat(100);

let folder: string;
let server: Server;
let assets: StaticAssets;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-assets-'));
  await mkdir(join(folder, 'static', 'chunks'), { recursive: true });
  const files = {
    'static/chunks/a.js': script,
    'static/unread.js': '1',
    'static/short.css': 'a{}',
    'static/page.html': '<p>',
    'secret.js': '1',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  await compressAssets(join(folder, 'static'));
  assets = serveStaticAssets(join(folder, 'static'), PREFIX);
  const listener: RequestListener = async (message, response) => {
    if (!(await assets(message.url ?? '', message, response))) response.writeHead(404).end('not an asset');
  };
  server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false });
  return new Promise<{ status: number | undefined; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      sent.once('error', reject);
      sent.once('response', async response => {
        resolve({ status: response.statusCode, headers: response.headers, body: await buffer(response) });
      });
      sent.end();
    },
  );
}

test.each([
  ['br', 'gzip, deflate, br', brotliDecompressSync],
  ['gzip', 'gzip, deflate', gunzipSync],
  ['gzip', 'br;q=0, gzip', gunzipSync],
  [undefined, 'identity', (body: Buffer) => body],
])('a script is served as %s to a browser that accepts %s, and may be kept', async (coding, accepted, read) => {
  const { status, headers, body } = await get(`${PREFIX}chunks/a.js`, { 'Accept-Encoding': accepted });
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'content-length': String(body.length),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  });
  expect(headers['content-encoding']).toBe(coding);
  expect(read(body).toString()).toBe(script);
});

test('a file that compression does not make shorter is served uncompressed', async () => {
  const { headers, body } = await get(`${PREFIX}short.css`, { 'Accept-Encoding': 'br' });
  expect(headers['content-encoding']).toBeUndefined();
  expect(body.toString()).toBe('a{}');
});

test('HEAD is answered without the file', async () => {
  const { headers, body } = await get(`${PREFIX}chunks/a.js`, {}, 'HEAD');
  expect(headers['content-length']).toBe(String(Buffer.byteLength(script)));
  expect(body).toHaveLength(0);
});

test.each([
  `${PREFIX}chunks/b.js`,
  `${PREFIX}chunks`,
  PREFIX,
  `${PREFIX}../secret.js`,
  `${PREFIX}chunks/../../secret.js`,
  `${PREFIX}chunks/a.js.br`,
  `${PREFIX}page.html`,
  '/other/chunks/a.js',
])('%s is left to Next', async path => {
  expect((await get(path)).body.toString()).toBe('not an asset');
});

test('a request that would change something is left to Next', async () => {
  expect((await get(`${PREFIX}chunks/a.js`, {}, 'POST')).body.toString()).toBe('not an asset');
});

test('a later build in the same folder removes no file that has been read', async () => {
  const before = await get(`${PREFIX}chunks/a.js`, { 'Accept-Encoding': 'br' });
  await rm(join(folder, 'static'), { recursive: true });
  expect(await get(`${PREFIX}chunks/a.js`, { 'Accept-Encoding': 'br' })).toMatchObject({
    status: 200,
    body: before.body,
  });
  expect((await get(`${PREFIX}unread.js`)).body.toString()).toBe('not an asset');
});

test('without a build there are no assets', async () => {
  assets = serveStaticAssets(join(folder, 'absent'), PREFIX);
  expect((await get(`${PREFIX}chunks/a.js`)).body.toString()).toBe('not an asset');
});
