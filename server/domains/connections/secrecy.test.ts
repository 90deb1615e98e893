import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { createLogger } from '../../platform/logger.ts';
import { startTestApi, type TestApi } from '../../testing/api.ts';
import { createTestPat, createTestServices, createTestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { connectionOperations } from './operations.ts';

/** Returns a distinct value for each way in, so that a leak shows where it came from. */
const secret = (where: string) => `leak-${where}-5d1b0c9a`;
const anySecret = /leak-\w+-5d1b0c9a/;

let db: TestDatabase;
let services: Services;
let api: TestApi;
let token: string;
let log = '';
let storeBroken = false;

beforeAll(async () => {
  db = await createTestDatabase();
  const destination = new Writable({
    write: (chunk, _, done) => {
      log += String(chunk);
      done();
    },
  });
  const plain = createTestServices(db, { logger: createLogger('trace', { destination }) });
  const put: Services['secrets']['put'] = (tenantId, name, plaintext) =>
    storeBroken
      ? Promise.reject(new Error(`the driver says: could not write ${plaintext}`))
      : plain.secrets.put(tenantId, name, plaintext);
  const { secrets } = plain;
  const others = {
    get: secrets.get.bind(secrets),
    take: secrets.take.bind(secrets),
    delete: secrets.delete.bind(secrets),
  };
  services = { ...plain, secrets: { put, ...others } };
  const tenant = await createTestTenant(services, { slug: 'acme' });
  token = (await createTestPat(services, tenant.contributor, ['connection:manage'])).token;
  api = await startTestApi(services, connectionOperations);
});
afterAll(async () => {
  await api.close();
  await db.close();
});

async function send(method: string, path: string, body?: string, type = 'application/json') {
  const response = await fetch(api.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': type }) },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text(), headers: JSON.stringify([...response.headers]) };
}
const request = (where: string, more: object = {}) =>
  JSON.stringify({
    display_name: 'A',
    provider: 'custom',
    service: 'x',
    credentials: { token: secret(where) },
    ...more,
  });

it('no answer, header or line of the log holds a secret, whatever goes wrong', async () => {
  const made = await send('POST', '/v1/connections', request('create'));
  const { id } = JSON.parse(made.text);
  const patch = (credentials: object) => JSON.stringify({ credentials });
  const answers = [
    made,
    await send('GET', '/v1/connections'),
    await send('GET', `/v1/connections/${id}`),
    await send('GET', `/v1/connections/${id}/credentials`),
    await send('GET', `/v1/connections/${id}/usage`),
    await send('GET', `/v1/mcp/connections/${id}`),
    await send('PATCH', `/v1/connections/${id}`, patch({ token: secret('patch') })),
    // Requests that are refused, in every way.
    await send('POST', '/v1/connections', request('field', { nonsense: secret('nonsense') })),
    await send('POST', '/v1/connections', request('malformed').slice(0, -3)),
    await send('POST', '/v1/connections', request('type'), 'text/plain'),
    await send('POST', '/v1/connections', request('name', { display_name: '' })),
    await send('POST', '/v1/connections', request('list', { credentials: [secret('array')] })),
    await send('POST', '/v1/connections', request('deep', { credentials: { a: { b: secret('nested') } } })),
    await send('POST', '/v1/connections', request('long', { credentials: { a: secret('toolong').repeat(999) } })),
    await send('POST', '/v1/connections', `{"credentials": {"a": "${secret('nul')}\\u0000"}}`),
    await send('PATCH', '/v1/connections/01890000-0000-7000-8000-000000000000', patch({ a: secret('absent') })),
    await send('PUT', `/v1/connections/${id}`, request('method')),
    await send('POST', '/v1/connections/messaging/manual', JSON.stringify({ access_token: secret('manual') })),
  ];
  storeBroken = true;
  answers.push(await send('POST', '/v1/connections', request('broken')));
  answers.push(await send('PATCH', `/v1/connections/${id}`, patch({ a: secret('brokenpatch') })));
  storeBroken = false;
  answers.push(await send('DELETE', `/v1/connections/${id}`));
  expect(answers.map(({ status }) => status)).toEqual([
    201, 200, 200, 200, 200, 200, 200, 422, 400, 415, 422, 422, 422, 422, 422, 404, 405, 404, 500, 500, 204,
  ]);
  for (const { text, headers } of answers) {
    expect(text).not.toMatch(anySecret);
    expect(headers).not.toMatch(anySecret);
  }
  // Shows that the failures were logged; otherwise the assertions below would prove nothing.
  expect(log).toContain('a request failed');
  expect(log).not.toMatch(anySecret);
});

it('no answer over tRPC holds a secret either', async () => {
  const response = await fetch(`${api.url}/api/trpc/connections_create`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: request('trpc', { credentials: { token: secret('trpc'), other: 7 } }),
  });
  expect(response.status).toBe(422);
  expect(await response.text()).not.toMatch(anySecret);
});
