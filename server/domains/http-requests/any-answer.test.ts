import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { METHODS, UNSAFE_METHODS } from '../../orchestrator/steps/http-request/fields.ts';
import type { HttpAnswer } from '../../orchestrator/steps/http-request/http-requester.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createEgress, type Egress } from '../../platform/egress/egress.ts';
import { READ_MODES } from '../../platform/http-client/body.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import { createTestServices } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createSocketServers } from '../../testing/socket-server.ts';
import { createHttpRequester } from './requester.ts';

const { serve, close } = createSocketServers();
let db: TestDatabase;
let egress: Egress;
let requester: ReturnType<typeof createHttpRequester>;
let url = '';
/** The bytes of the next answer, after which the connection ends. */
let answer: Buffer;

beforeAll(async () => {
  db = await createTestDatabase();
  egress = createEgress({ allowPrivate: ['127.0.0.1/32'], timeouts: { headers: 5_000, body: 5_000 } });
  requester = createHttpRequester({ ...createTestServices(db, { clock: new ManualClock() }), egress });
  url = await serve((socket: Socket) => socket.end(answer));
});
afterAll(async () => {
  await close();
  await egress.close();
  await db.close();
});

const bytes = (text: string) => Buffer.from(text);
const bodies = fc.oneof(
  fc.json().map(bytes),
  fc.constantFrom('{"id":7615917337495251231}', '"\\u0000"', '"\\ud800"', '{"a":', '', 'a,b\n1,ü', '1e400').map(bytes),
  fc.string({ unit: 'binary' }).map(bytes),
  fc.uint8Array({ maxLength: 300 }).map(each => Buffer.from(each)),
  fc.json().map(text => Buffer.concat([Buffer.from('efbbbf', 'hex'), bytes(text)])),
  fc.json().map(text => Buffer.from(`\ufeff${text}`, 'utf16le')),
  fc.integer({ min: 1_000_000, max: 1_100_000 }).map(size => Buffer.alloc(size, 'é')),
);
const types = fc.oneof(
  fc.constantFrom('application/json', 'application/problem+json', 'text/csv', 'application/octet-stream', 'image/png'),
  fc.constantFrom('text/csv\r\ncontent-type: text/csv', 'application/json, application/json', 'text/plain; charset=x'),
  fc.string({ unit: fc.constantFrom(...'a/+;=," \t'), maxLength: 20 }),
);
const encodings = fc.constantFrom<[string, (body: Buffer) => Buffer]>(
  ['', body => body],
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['gzip', body => body],
  ['gzip, br', body => brotliCompressSync(gzipSync(body))],
  ['identity', body => body],
  ['unknown', body => body],
);
const statuses = fc.constantFrom(200, 201, 204, 205, 206, 302, 304, 404, 408, 425, 500, 599);
/** The part of the answer that arrives, in thousandths. */
const parts = fc.oneof(fc.constant(1_000), fc.integer({ min: 0, max: 1_000 }));

/** Any answer to any method is either read or refused, and a change that was made is never lost. */
test('any answer', async () => {
  const anyAnswer = fc.record({
    body: bodies,
    type: types,
    encoding: encodings,
    status: statuses,
    part: parts,
    chunked: fc.boolean(),
    method: fc.constantFrom(...METHODS),
    mode: fc.constantFrom(...READ_MODES),
  });
  await fc.assert(
    fc.asyncProperty(
      anyAnswer,
      async ({ body, type, encoding: [name, encode], status, part, chunked, method, mode }) => {
        const content = encode(body);
        const framing = chunked ? 'transfer-encoding: chunked' : `content-length: ${content.length}`;
        const head = bytes(
          `HTTP/1.1 ${status} Some\r\nconnection: close\r\nx-order: 7\r\ncontent-type: ${type}\r\n${name === '' ? '' : `content-encoding: ${name}\r\n`}${framing}\r\n\r\n`,
        );
        const framed = chunked
          ? Buffer.concat([
              bytes(`${content.length.toString(16)}\r\n`),
              content,
              bytes(content.length > 0 ? '\r\n0\r\n\r\n' : '\r\n'),
            ])
          : content;
        const whole = Buffer.concat([head, framed]);
        answer = whole.subarray(0, Math.ceil((whole.length * part) / 1_000));
        const found: HttpAnswer = await requester.send(
          {
            tenantId: 't',
            projectId: 'p',
            method,
            url,
            headers: new Map(),
            body: null,
            credentials: null,
            followRedirects: true,
            response: mode,
            expects: each => each >= 200 && each < 300,
          },
          { signal: new AbortController().signal },
        );
        expect(storageProblem(found.kind === 'response' ? found.response : (found.details ?? {}))).toBeNull();
        if (found.kind === 'response' && method !== 'GET' && method !== 'OPTIONS' && method !== 'HEAD') {
          expect(Buffer.byteLength(JSON.stringify(found.response))).toBeLessThanOrEqual(1024 * 1024);
        }
        // The head arrived with a status of success, so the outcome of the request is known.
        const isDone = answer.length >= head.length && status >= 200 && status < 300 && UNSAFE_METHODS.has(method);
        if (isDone)
          expect(found).toMatchObject({ kind: 'response', response: { status, headers: { 'x-order': '7' } } });
        if (found.kind === 'response' && found.response.unread !== undefined) {
          expect(found.response.body).toBeNull();
          expect(UNSAFE_METHODS.has(method)).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});
