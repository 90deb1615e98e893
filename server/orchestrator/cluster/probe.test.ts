import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { probeByHttp } from './probe.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Starts a server that gives this answer, and returns its address. */
async function serve(status: number, body: string): Promise<string> {
  const opened = createServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? status : 404).end(body);
  });
  server = opened;
  await new Promise<void>(resolve => opened.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(opened.address() as AddressInfo).port}`;
}
const probe = (url: string, closing = new AbortController().signal) => probeByHttp({ id: 'a', url }, closing);

test.each([
  [200, '{"status":"ok","node":"a"}', 'answers'],
  [200, '{"status":"ok"}', 'answers'],
  [200, '{"status":"ok","node":"b"}', 'other'],
  [200, 'hello', 'silent'],
  [302, '{"status":"ok"}', 'silent'],
  [503, '{"status":"ok"}', 'silent'],
])('an answer %i %s is of a node that is: %s', async (status, body, result) => {
  expect(await probe(await serve(status, body))).toBe(result);
});

test('an address where nobody listens is silent, and so is any while this node is closing', async () => {
  const url = await serve(200, '{"status":"ok"}');
  expect(await probe(url, AbortSignal.abort())).toBe('silent');
  server?.close();
  server?.closeAllConnections();
  expect(await probe(url)).toBe('silent');
});
