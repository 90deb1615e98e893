import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../server/platform/ids.ts';
import { startTestContainer, type TestContainer } from '../../../server/testing/container.ts';
import { createTestPat, createTestTenant } from '../../../server/testing/identity.ts';
import { DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT } from './route.ts';

const route = { DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT };

let service: TestContainer;
let token: string;

beforeAll(async () => {
  service = await startTestContainer();
  const tenant = await createTestTenant(service.container.services, { slug: 'acme' });
  token = (await createTestPat(service.container.services, tenant.contributor, ['workflow:read', 'workflow:write']))
    .token;
});
afterAll(() => service.close());

type Method = keyof typeof route;
const json = { 'Content-Type': 'application/json' };
const unknown = `/v1/workflows/${newId()}`;
const requests: [Method, string, RequestInit?][] = [
  ['GET', '/v1/workflows'],
  ['GET', '/v1/workflows?limit=nope'],
  ['GET', unknown],
  ['HEAD', '/v1/workflows'],
  ['OPTIONS', '/v1/workflows'],
  ['POST', '/v1/workflows', { headers: json, body: '{"name":' }],
  ['POST', '/v1/workflows', { headers: json, body: '{"nope":1}' }],
  ['POST', '/v1/workflows', { body: 'text' }],
  ['PATCH', unknown, { headers: json, body: '{"name":"a"}' }],
  ['PUT', '/v1/workflows', { headers: json, body: '{}' }],
  ['DELETE', unknown],
  ['GET', '/v1/openapi.json'],
  ['GET', '/v1/nothing'],
];

test.each(requests)("%s %s: Next's route answers as the process does", async (method, path, init = {}) => {
  const headers = { ...init.headers, Authorization: `Bearer ${token}`, 'X-Request-Id': 'the-same' };
  const request = () => new Request(`${service.url}${path}`, { ...init, method, headers });
  const [routed, served] = [await route[method](request()), await fetch(request())];
  expect([routed.status, await routed.text()]).toEqual([served.status, await served.text()]);
  for (const name of ['content-type', 'x-request-id', 'allow', 'cache-control', 'x-content-type-options']) {
    expect([name, routed.headers.get(name)]).toEqual([name, served.headers.get(name)]);
  }
});

test('throws an error that names npm start if the service is not running', async () => {
  const published = Symbol.for('baton.container');
  const running = Reflect.get(globalThis, published);
  Reflect.deleteProperty(globalThis, published);
  expect(() => route.GET(new Request('http://localhost/v1/workflows'))).toThrow(/npm start/);
  Reflect.set(globalThis, published, running);
});
