import { connect } from 'node:net';
import { discoverOAuthProtectedResourceMetadata, registerClient } from '@modelcontextprotocol/sdk/client/auth.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestContainer, type TestContainer } from '../testing/container.ts';

let service: TestContainer;
beforeAll(async () => {
  service = await startTestContainer();
});
afterAll(() => service.close());

/** Requests a path exactly as written, which fetch would normalize. */
function requestRaw(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let text = '';
    socket.on('error', reject);
    socket.on('data', chunk => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  });
}

const documents = ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'];

describe('clients that look for an authorization server read JSON', () => {
  test.each([
    ...documents.flatMap(name => [
      `/.well-known/${name}`,
      `/.well-known/${name}/mcp`,
      `/.well-known/${name}/`,
      `/.well-known/${name}/mcp?x=1`,
    ]),
    ...['/authorize?client_id=x', '/token', '/register', '/register/', '/revoke', '/introspect'],
  ])('%s', async path => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      const answer = await fetch(service.url + path, { method });
      expect([answer.status, answer.headers.get('content-type')], method).toEqual([
        404,
        'application/json; charset=utf-8',
      ]);
      expect(await answer.json()).toEqual({
        code: 'not_found',
        error: expect.stringContaining('personal access token'),
        error_description: expect.stringContaining('personal access token'),
        request_id: answer.headers.get('x-request-id'),
      });
    }
  });

  test.each([...documents.map(name => `/mcp/.well-known/${name}`), '/mcp/register', '/mcp/authorize', '/mcp/token'])(
    '%s',
    async path => {
      const answer = await fetch(service.url + path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: 'not_found' });
    },
  );

  test('the official client gets JSON, and shows the reason', async () => {
    await expect(discoverOAuthProtectedResourceMetadata(`${service.url}/mcp`)).rejects.toThrow(
      'does not implement OAuth 2.0 Protected Resource Metadata',
    );
    const clientMetadata = { redirect_uris: ['http://localhost/callback'] };
    await expect(registerClient(service.url, { clientMetadata })).rejects.toThrow('personal access token');
  });
});

test.each([
  '/.well-known',
  '/.well-known/',
  '/.well-known/security.txt',
  '/.well-known/mcp.json',
  '/.well-known/a/b/c',
  '/.well-known/%00',
  '/.well-known/%ff',
])('%s is JSON as well', async path => {
  const answer = await fetch(service.url + path);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: 'not_found', error: 'There is no document at this path.' });
});

test.each(['/.//.well-known/x', '/%2ewell-known/x', '/%2Ewell-known%2fx', '/x/../.well-known/x', '/.well-known\\x'])(
  '%s, however it is written',
  async path => {
    expect(await requestRaw(path)).toContain('"code":"not_found"');
  },
);

test('other paths belong to the console', async () => {
  for (const path of ['/', '/well-known', '/.well-knownx', '/registered', '/token/x', '/x/.well-known/y'])
    expect((await fetch(service.url + path)).headers.get('content-type'), path).toBeNull();
});

test('a body is read and discarded, so that the connection serves the next request', async () => {
  const answer = await fetch(`${service.url}/register`, { method: 'POST', body: 'x'.repeat(1024 * 1024) });
  expect(answer.status).toBe(404);
  expect((await fetch(`${service.url}/.well-known/x`, { method: 'HEAD' })).status).toBe(404);
});
