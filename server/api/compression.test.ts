import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../orchestrator/ports/authority.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestPat, createTestTenant } from '../testing/identity.ts';
import { codingOf, compressed } from './compression.ts';

describe('the coding of a response', () => {
  test.each([
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['GZIP ; Q=0.5', 'gzip'],
    ['*', 'br'],
    ['*;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['deflate, zstd', null],
    ['br;q=nonsense', null],
    [`${'x,'.repeat(30)}gzip`, null],
  ])('%s is %s', (header, coding) => {
    expect(codingOf(header)).toBe(coding);
  });

  test('is always one of the codings that the header names', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), header => {
        const coding = codingOf(header);
        if (coding !== null) expect(/\*|br|gzip/i.test(header)).toBe(true);
      }),
    );
  });
});

test('texts of 1,024 characters are compressed, shorter ones are not', async () => {
  const response = { status: 200, headers: { ETag: '"1"' }, body: 'x'.repeat(1_024) };
  const long = await compressed(response, 'gzip');
  expect(long.headers).toEqual({ ETag: '"1"', 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
  expect(gunzipSync(long.body as Buffer).toString()).toBe(response.body);
  const short = { ...response, body: 'x'.repeat(1_023) };
  expect(await compressed(short, 'gzip')).toBe(short);
  expect(await compressed(response, undefined)).toBe(response);
});

describe('over HTTP', () => {
  let service: TestContainer;
  let token: string;
  beforeAll(async () => {
    service = await startTestContainer();
    const { owner } = await createTestTenant(service.container.services, { slug: 'acme' });
    token = (await createTestPat(service.container.services, owner, scopes)).token;
  });
  afterAll(() => service.close());

  /** With node:http, which does not decode the response. */
  function get(path: string, headers: Record<string, string>, method = 'GET') {
    return new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      const sent = request(`${service.url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
      });
      sent.on('error', reject).on('response', response => {
        const chunks: Buffer[] = [];
        response.on('data', chunk => chunks.push(chunk));
        response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
      });
      sent.end();
    });
  }

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('a document is sent as %s, with its length', async (coding, decode) => {
    const plain = await get('/v1/openapi.json', {});
    expect(plain.headers['content-encoding']).toBeUndefined();
    const coded = await get('/v1/openapi.json', { 'Accept-Encoding': coding });
    expect(coded.headers).toMatchObject({ 'content-encoding': coding, 'content-length': String(coded.body.length) });
    expect(coded.body.length * 4).toBeLessThan(plain.body.length);
    expect(decode(coded.body)).toEqual(plain.body);
  });

  test('a short answer and the head of a long one are not compressed', async () => {
    const me = await get('/v1/me', { 'Accept-Encoding': 'gzip' });
    expect(me.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(me.body.toString())).toHaveProperty('user');
    const head = await get('/v1/openapi.json', { 'Accept-Encoding': 'gzip' }, 'HEAD');
    expect(head.body.length).toBe(0);
  });
});
