import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { HttpAnswer, HttpCall } from '../../orchestrator/steps/http-request/http-requester.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createEgress, type Egress } from '../../platform/egress/egress.ts';
import { createTestServices } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createSocketServers } from '../../testing/socket-server.ts';
import { createHttpRequester } from './requester.ts';

const MIB = 1024 * 1024;
const { serve, close } = createSocketServers();
let db: TestDatabase;
let egress: Egress;
let requester: ReturnType<typeof createHttpRequester>;

beforeAll(async () => {
  db = await createTestDatabase();
  egress = createEgress({ allowPrivate: ['127.0.0.1/32'], timeouts: { headers: 1_000, body: 1_000 } });
  requester = createHttpRequester({ ...createTestServices(db, { clock: new ManualClock() }), egress });
});
afterAll(async () => {
  await egress.close();
  await db.close();
});
afterEach(close);

async function callWith(
  answer: (socket: Socket, head: string) => void,
  more: Partial<HttpCall> = {},
): Promise<HttpAnswer> {
  const call: HttpCall = {
    tenantId: 't',
    projectId: 'p',
    method: 'POST',
    url: await serve(answer),
    headers: new Map(),
    body: null,
    credentials: null,
    followRedirects: true,
    response: 'auto',
    expects: status => status >= 200 && status < 300,
    ...more,
  };
  return requester.send(call, { signal: new AbortController().signal });
}

const head = (status: string, headers = '') =>
  `HTTP/1.1 ${status}\r\nconnection: close\r\nx-order: 7\r\n${headers}\r\n`;
const json = 'content-type: application/json\r\n';
const sending =
  (...pieces: (string | Buffer)[]) =>
  (socket: Socket): void => {
    for (const piece of pieces) socket.write(piece);
    socket.end();
  };
const zipped = gzipSync(JSON.stringify({ text: 'order '.repeat(2_000) }));

/**
 * Responses with the status 201 and an unreadable body, with the expected error code and the expected beginning of the
 * body.
 */
const UNREADABLE: [string, (socket: Socket) => void, string, string | undefined][] = [
  ['too large', sending(head('201 Created'), 'x'.repeat(MIB + 1)), 'response_too_large', 'xxx'],
  ['too large as JSON', sending(head('201 Created'), '"'.repeat(MIB - 10)), 'response_too_large', '"""'],
  ['cut by its length', sending(head('201 Created', 'content-length: 99\r\n'), 'abc'), 'http_connection_lost', 'abc'],
  [
    'cut in a chunk',
    sending(head('201 Created', 'transfer-encoding: chunked\r\n'), '5\r\nab'),
    'http_connection_lost',
    'ab',
  ],
  [
    'cut in its compression',
    sending(
      head('201 Created', `content-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n`),
      zipped.subarray(0, 40),
    ),
    'http_connection_lost',
    '',
  ],
  [
    'a bomb',
    sending(head('201 Created', 'content-encoding: br\r\n'), brotliCompressSync(Buffer.alloc(8 * MIB, 'a'))),
    'response_too_large',
    'aaa',
  ],
  [
    'not compressed, though it says so',
    sending(head('201 Created', 'content-encoding: gzip\r\n'), 'plain'),
    'response_malformed',
    undefined,
  ],
  ['JSON that is none', sending(head('201 Created', json), '{"id": 7'), 'response_malformed', '{"id": 7'],
  [
    'JSON in no charset',
    sending(head('201 Created', json), Buffer.from([0xff, 0x22])),
    'response_malformed',
    undefined,
  ],
];

describe('an answer whose body cannot be read', () => {
  test.each(UNREADABLE)(
    '%s: a POST has been carried out, and its step has a result',
    async (_, answer, code, begin) => {
      const { response } = (await callWith(answer)) as Extract<HttpAnswer, { kind: 'response' }>;
      expect(response).toMatchObject({ status: 201, headers: { 'x-order': '7' }, body: null });
      expect(response.unread).toMatchObject({ code, message: expect.stringContaining('has been carried out') });
      expect(Buffer.byteLength(JSON.stringify(response))).toBeLessThan(MIB);
      // It depends on timing whether the bytes decompressed before the end arrive.
      if (begin === '') return;
      if (begin === undefined) expect(response.unread).not.toHaveProperty('beginning');
      else expect(response.unread?.beginning?.slice(0, begin.length)).toBe(begin);
      expect(Buffer.byteLength(JSON.stringify(response))).toBeLessThan(MIB);
    },
  );

  test.each(UNREADABLE.filter(([name]) => name !== 'too large as JSON'))(
    '%s: a GET fails, and says what is known',
    async (_, answer, code) => {
      const found = await callWith(answer, { method: 'GET' });
      expect(found).toMatchObject({ kind: 'failed', code, details: { status: 201, headers: { 'x-order': '7' } } });
      expect(found).toMatchObject({ retryable: code === 'http_connection_lost' });
    },
  );

  test.each(['PUT', 'PATCH', 'DELETE'])('%s has been carried out as well', async method => {
    const answer = await callWith(sending(head('200 OK', json), '{'), { method });
    expect(answer).toMatchObject({
      kind: 'response',
      response: { status: 200, unread: { code: 'response_malformed' } },
    });
  });
});

describe('a POST without an answer', () => {
  test.each<[string, (socket: Socket) => void, string, boolean]>([
    ['cut at once', (socket: Socket): void => void socket.destroy(), 'http_connection_lost', true],
    ['no HTTP', sending('SSH-2.0-OpenSSH_9.6\r\n'), 'response_malformed', false],
    [
      'a flood of headers',
      sending(head('200 OK', 'x-flood: aaaaaaaaaaaaaaa\r\n'.repeat(2_000))),
      'response_headers_too_large',
      false,
    ],
  ])('%s: it may have been carried out', async (_, answer, code, retryable) => {
    const message = expect.stringContaining('may have been carried out');
    expect(await callWith(answer)).toMatchObject({ kind: 'failed', code, retryable, message });
    expect(((await callWith(answer, { method: 'GET' })) as { message: string }).message).not.toContain('carried out');
  });

  test('nothing listens: it has not been carried out', async () => {
    const url = await serve(() => undefined);
    await close();
    const answer = await callWith(() => undefined, { url });
    expect(answer).toMatchObject({
      code: 'http_unreachable',
      retryable: true,
      message: expect.not.stringContaining('carried'),
    });
  });

  test('answered by a redirect to what cannot be read: it has been carried out, and is not repeated', async () => {
    const to = (location: string) => (socket: Socket, request: string) => {
      if (request.startsWith('POST'))
        sending(head('303 See Other', `location: ${location}\r\ncontent-length: 0\r\n`))(socket);
      else if (location === '/busy') sending(head('503 Busy', 'content-length: 0\r\n'))(socket);
      else socket.destroy();
    };
    for (const [location, code] of [
      ['/lost', 'http_connection_lost'],
      ['http://10.0.0.1/', 'egress_refused'],
      ['/busy', 'unexpected_status'],
    ] as const) {
      const answer = await callWith(to(location));
      expect(answer).toMatchObject({ kind: 'failed', code, retryable: false });
      expect(answer).toMatchObject({
        message: expect.stringContaining('has been carried out: it was answered with 303'),
      });
      expect(answer).toMatchObject({ details: { headers: { 'x-order': '7' } } });
    }
  });
});

describe('a status', () => {
  const status = (code: number, headers = 'content-length: 0\r\n') => sending(head(`${code} Odd`, headers));

  test.each([
    ...[408, 421, 425, 429, 500, 502, 503, 504, 507, 599].map(code => [code, true] as const),
    ...[300, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 423, 451, 501, 505].map(
      code => [code, false] as const,
    ),
  ])('%i: a repetition may succeed: %s', async (code, retryable) => {
    for (const method of ['GET', 'POST']) {
      const answer = await callWith(status(code), { method });
      expect(answer).toMatchObject({ code: 'unexpected_status', retryable, details: { status: code } });
    }
  });

  test('413 is temporary if it has a Retry-After', async () => {
    const answer = await callWith(status(413, 'retry-after: 7\r\ncontent-length: 0\r\n'));
    expect(answer).toMatchObject({ code: 'unexpected_status', retryable: true, retryAfterMs: 7_000 });
  });

  test.each([204, 205, 304])('%i has no body, though the server announces one', async code => {
    const answer = await callWith(status(code, `${json}content-length: 8\r\n`), { expects: each => each === code });
    expect(answer).toMatchObject({ kind: 'response', response: { status: code, body: null } });
  });

  test('HEAD has no body, although it announces a length', async () => {
    const answer = await callWith(status(200, `${json}content-length: 8\r\n`), { method: 'HEAD' });
    expect(answer).toMatchObject({ kind: 'response', response: { status: 200, body: null } });
  });

  test.each([100, 102, 103])('%i comes before the answer, any number of times', async code => {
    const early = `HTTP/1.1 ${code} Early\r\nlink: </a>\r\n\r\n`;
    const answer = await callWith(sending(early.slice(0, 5), early.slice(5) + early, head('200 OK'), 'done'));
    expect(answer).toMatchObject({ kind: 'response', response: { status: 200, body: 'done' } });
  });

  test('an error keeps a body of JSON or text, and no other', async () => {
    const details = async (type: string, body: string | Buffer) => {
      const answer = await callWith(sending(head('422 No', `content-type: ${type}\r\n`), body));
      return (answer as Extract<HttpAnswer, { kind: 'failed' }>).details?.body;
    };
    expect(await details('application/problem+json', '{"code":"E42"}')).toEqual({ code: 'E42' });
    expect(await details('application/xml', '<Error><Code>NoSuchKey</Code></Error>')).toContain('NoSuchKey');
    expect(await details('text/plain', 'é'.repeat(10_000))).toMatch(/^é{100,}$/);
    expect(await details('application/json', `["${'x'.repeat(10_000)}"]`)).toBeUndefined();
    const cookies = Array.from({ length: 10 }, (_, n) => `set-cookie: c${n}=${'x'.repeat(1_000)}\r\n`).join('');
    const crowded = await callWith(sending(head('422 No', `${cookies}location: /orders/7\r\n`), 'x'.repeat(20_000)));
    expect(Buffer.byteLength(JSON.stringify(crowded))).toBeLessThan(16 * 1024);
    expect(crowded).toMatchObject({
      details: { headers: { location: '/orders/7' }, body: expect.stringContaining('xxx') },
    });
    expect(await details('image/png', Buffer.from([0x89, 0x50]))).toBeUndefined();
  });
});
