import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../platform/logger.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { type Edge, listen } from './edge.ts';
import { createFrontend } from './frontend.ts';

let service: TestContainer;
let edge: Edge;
/** The requests that reached the console. */
const reached: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];

beforeAll(async () => {
  service = await startTestContainer();
  const { config } = service.container.services;
  const frontend = createFrontend(config, service.container, {
    request({ method, url, headers }, response) {
      reached.push({ method, url, headers });
      response.writeHead(204).end();
    },
    upgrade: () => false,
  });
  edge = await listen({ host: '127.0.0.1', port: 0 }, () => frontend, {
    ...config.http,
    logger: createLogger('silent'),
  });
});
afterAll(async () => {
  await edge.close(0);
  await service.close();
});

/** Sends bytes as they are. Returns the status, the head and the body of the answer. */
function send(bytes: string): Promise<{ status: number; head: string; body: string }> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(edge.port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no answer to ${bytes.slice(0, 80)}`)));
    socket.on('data', chunk => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      resolve({ status: Number(head.slice(9, 12)), head, body });
    });
  });
}
const sendRequestLine = (line: string, host = 'localhost', more = '') =>
  send(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`);

describe('a malformed first line is refused', () => {
  test.each<[string, number, string]>([
    ['OPTIONS *', 400, 'malformed_target'],
    ['GET *', 400, 'malformed_target'],
    ['GET http://localhost/workflows', 400, 'malformed_target'],
    ['GET https://localhost/v1/me', 400, 'malformed_target'],
    ['POST HTTP://elsewhere.example/v1/workflows', 400, 'malformed_target'],
    ['GET ftp://localhost/', 400, 'malformed_target'],
    ['GET //elsewhere.example/workflows', 400, 'malformed_target'],
    ['GET //', 400, 'malformed_target'],
    ['GET /\\elsewhere.example/', 400, 'malformed_target'],
    ['GET /workflows/%E0%A4%A', 400, 'malformed_path'],
    ['GET /workflows/%', 400, 'malformed_path'],
    ['GET /%ff', 400, 'malformed_path'],
    ['GET /workflows/%C0%AF', 400, 'malformed_path'],
    ['GET /_next/static/%E0%A4%A', 400, 'malformed_path'],
    ['GET /api/auth/%E0%A4%A', 400, 'malformed_path'],
    ['GET /v1/workflows/%E0%A4%A', 400, 'malformed_path'],
    ['GET /mcp/%E0%A4%A', 400, 'malformed_path'],
    ['TRACE /', 405, 'method_not_allowed'],
    ['TRACE /v1/me', 405, 'method_not_allowed'],
    ['PROPFIND /workflows', 405, 'method_not_allowed'],
    ['PURGE /', 405, 'method_not_allowed'],
    ['POST /workflows', 405, 'method_not_allowed'],
    ['DELETE /', 405, 'method_not_allowed'],
    ['OPTIONS /sign-in', 405, 'method_not_allowed'],
    ['PUT /_next/static/x.js', 405, 'method_not_allowed'],
  ])('%s is %i %s', async (line, status, code) => {
    reached.length = 0;
    const answer = await sendRequestLine(line);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String), code, request_id: expect.any(String) });
    if (status === 405) expect(answer.head).toMatch(/^Allow: GET, HEAD/im);
    expect(answer.head).toMatch(/^X-Content-Type-Options: nosniff/im);
    expect(reached).toEqual([]);
  });

  test.each([
    'a b',
    'localhost/x',
    'user@localhost',
    '[::1',
    'localhost:port',
    'localhost:99999',
    'a%00b',
    '#',
    '?x',
    'a\\b',
  ])('with the host %s', async host => {
    reached.length = 0;
    const answer = await sendRequestLine('GET /workflows', host);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('malformed_host');
    expect(reached).toEqual([]);
  });

  test('CONNECT is answered only by the end of the connection', async () => {
    expect((await sendRequestLine('CONNECT localhost:443')).status).toBe(0);
  });
});

test('everything else is served', async () => {
  reached.length = 0;
  for (const host of ['', 'localhost', 'localhost:3000', '127.0.0.1', '[::1]:3000', 'bäton.example'])
    expect((await sendRequestLine('GET /workflows?q=%E0%A4%A', host)).status).toBe(204);
  for (const line of ['GET /workflows/%E0%A4%85', 'HEAD /', 'GET /a//b', 'GET /?x=http://y', 'POST /api/auth/signout'])
    expect((await sendRequestLine(line)).status).toBe(204);
  expect((await send('GET / HTTP/1.0\r\n\r\n')).status).toBe(204);
  expect((await sendRequestLine('GET /healthz')).status).toBe(200);
  expect((await sendRequestLine('OPTIONS /v1/workflows')).status).toBe(204);
});

test('a client’s headers about the host do not reach the console', async () => {
  reached.length = 0;
  const more = [
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Port: 1',
    'X-Forwarded-Proto: https',
    'Forwarded: host=evil.example',
  ];
  await sendRequestLine('GET /api/auth/signin', 'localhost', `${more.join('\r\n')}\r\n`);
  await sendRequestLine('GET /workflows', 'localhost', `${more.join('\r\n')}\r\n`);
  expect(reached).toHaveLength(2);
  expect(JSON.stringify(reached)).not.toMatch(/evil|forwarded-(host|port|proto)/);
});

test('a form of next-auth that another site sends is refused', async () => {
  const post = (more: string) =>
    sendRequestLine('POST /api/auth/callback/credentials', 'localhost', `Content-Length: 0\r\n${more}`);
  expect((await post('')).status).toBe(204);
  expect((await post('Sec-Fetch-Site: same-origin\r\nOrigin: http://localhost\r\n')).status).toBe(204);
  expect((await post('Sec-Fetch-Site: cross-site\r\n')).status).toBe(403);
  expect((await post('Sec-Fetch-Site: same-origin\r\nOrigin: http://evil.example\r\n')).status).toBe(403);
});
