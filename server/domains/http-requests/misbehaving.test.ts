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
const clock = new ManualClock();
let db: TestDatabase;
let egress: Egress;
let requester: ReturnType<typeof createHttpRequester>;
const { serve, sockets, close } = createSocketServers();

beforeAll(async () => {
  db = await createTestDatabase();
  egress = createEgress({ allowPrivate: ['127.0.0.1/32'], timeouts: { headers: 1_000, body: 1_000 } });
  requester = createHttpRequester({ ...createTestServices(db, { clock }), egress });
});
afterAll(async () => {
  await egress.close();
  await db.close();
});
afterEach(close);

const callOf = (url: string, more: Partial<HttpCall> = {}): HttpCall => ({
  tenantId: 't',
  projectId: 'p',
  method: 'GET',
  url,
  headers: new Map(),
  body: null,
  credentials: null,
  followRedirects: true,
  response: 'auto',
  expects: status => status === 200,
  ...more,
});

const send = (url: string, more: Partial<HttpCall> = {}, signal = new AbortController().signal): Promise<HttpAnswer> =>
  requester.send(callOf(url, more), { signal });

const callWith = async (answer: (socket: Socket, head: string) => void, more: Partial<HttpCall> = {}) =>
  send(await serve(answer), more);

const head = (headers: string) => `HTTP/1.1 200 OK\r\nconnection: close\r\n${headers}\r\n\r\n`;
const whole = (headers: string, body: string | Buffer) => (socket: Socket) => {
  socket.write(head(`content-length: ${Buffer.byteLength(body)}\r\n${headers}`));
  socket.end(body);
};
const failure = (code: string, retryable: boolean) => ({ kind: 'failed', code, retryable });

describe('a server that misbehaves costs its own step alone', () => {
  test('headers that never come, or come byte by byte', async () => {
    expect(await callWith(() => undefined)).toMatchObject(failure('http_connection_lost', true));
    let written = 0;
    const slow = (socket: Socket) => {
      const timer = setInterval(() => socket.write(written++ === 0 ? 'HTTP/1.1 200 OK\r\nx-a: ' : 'a'), 20);
      socket.on('close', () => clearInterval(timer));
    };
    const cancel = new AbortController();
    const url = await serve(slow);
    const answer = send(url, {}, cancel.signal);
    await expect.poll(() => written).toBeGreaterThan(2);
    cancel.abort();
    expect(await answer).toMatchObject({ kind: 'failed' });
    await expect.poll(() => sockets.size).toBe(0);
  });

  test('a body that stops, or that is still coming when the step is cancelled', async () => {
    const stopping = (socket: Socket) => void socket.write(`${head('content-length: 10')}abc`);
    expect(await callWith(stopping)).toMatchObject(failure('http_connection_lost', true));
    let began = false;
    const endless = (socket: Socket) => {
      socket.write(head('content-type: text/plain'));
      const timer = setInterval(() => {
        began = true;
        socket.write('x');
      }, 20);
      socket.on('close', () => clearInterval(timer));
    };
    const cancel = new AbortController();
    const answer = send(await serve(endless), {}, cancel.signal);
    await expect.poll(() => began).toBe(true);
    cancel.abort();
    expect(await answer).toMatchObject({ kind: 'failed' });
    await expect.poll(() => sockets.size).toBe(0);
  });

  test('a body that is cut: by its length, in a chunk, or in its compression', async () => {
    const zipped = gzipSync(Buffer.alloc(10_000, 'abc'));
    const cut: ((socket: Socket) => void)[] = [
      socket => socket.end(`${head('content-length: 100')}abc`),
      socket => socket.end(`${head('transfer-encoding: chunked')}5\r\nab`),
      socket => {
        socket.write(head(`content-encoding: gzip\r\ncontent-length: ${zipped.length}`));
        socket.end(zipped.subarray(0, 20));
      },
    ];
    for (const answer of cut) expect(await callWith(answer)).toMatchObject(failure('http_connection_lost', true));
  });

  test('a connection that is cut before anything is answered', async () => {
    expect(await callWith(socket => socket.destroy())).toMatchObject(failure('http_connection_lost', true));
  });

  test('a content length that is too short or no number', async () => {
    const short = await callWith(socket =>
      socket.end(`${head('content-length: 2\r\ncontent-type: text/plain')}abcdef`),
    );
    // Bytes after the end of the body belong to no response, and the connection is closed.
    expect(short).toMatchObject({ kind: 'response', response: { body: 'ab' } });
    const odd = await callWith(socket => socket.end(`${head('content-length: many')}abc`));
    expect(odd).toMatchObject(failure('response_malformed', false));
    const two = await callWith(socket => socket.end(`${head('content-length: 1\r\ncontent-length: 2')}abc`));
    expect(two).toMatchObject(failure('http_connection_lost', true));
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('a bomb of %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(64 * MIB));
    expect(bomb.length).toBeLessThan(MIB);
    const answer = await callWith(whole(`content-encoding: ${encoding}`, bomb));
    expect(answer).toMatchObject({
      ...failure('response_too_large', false),
      message: expect.stringContaining('1048576'),
    });
    const within = await callWith(
      whole(`content-type: text/plain\r\ncontent-encoding: ${encoding}`, compress(Buffer.alloc(MIB, 'a'))),
    );
    expect(within).toMatchObject({ kind: 'response' });
  });

  test('a body of 1 MiB, and one that is a byte larger', async () => {
    const plain = (bytes: number) => callWith(whole('content-type: text/plain', 'a'.repeat(bytes)));
    expect(await plain(MIB)).toMatchObject({ kind: 'response' });
    expect(await plain(MIB + 1)).toMatchObject(failure('response_too_large', false));
  });

  test('bytes that are not compressed as declared', async () => {
    const answer = await callWith(whole('content-encoding: gzip', 'not compressed at all'));
    expect(answer).toMatchObject(failure('response_malformed', false));
  });

  test('a body of 1 GiB is not read to its end', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const huge = (socket: Socket) => {
      socket.write(head(`content-length: ${1024 * MIB}`));
      const pump = () => {
        while (!socket.destroyed && sent < 1024 * MIB) {
          sent += chunk.length;
          if (!socket.write(chunk)) return void socket.once('drain', pump);
        }
      };
      pump();
    };
    expect(await callWith(huge)).toMatchObject(failure('response_too_large', false));
    await expect.poll(() => sockets.size).toBe(0);
    expect(sent).toBeLessThan(64 * MIB);
  });

  test('an error whose body is endless', async () => {
    const endless = (socket: Socket) => {
      socket.write('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
      const timer = setInterval(() => socket.write('nothing here '.repeat(1_000)), 1);
      socket.on('close', () => clearInterval(timer));
    };
    const answer = await callWith(endless);
    expect(answer).toMatchObject({
      ...failure('unexpected_status', false),
      message: expect.stringContaining('404: nothing'),
    });
    await expect.poll(() => sockets.size).toBe(0);
  });

  test('redirects in a circle, to nowhere, and into the private network', async () => {
    const to = (location: string) => (socket: Socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    let asked = 0;
    const circle = (socket: Socket) => {
      asked++;
      to('/')(socket);
    };
    expect(await callWith(circle)).toMatchObject(failure('too_many_redirects', false));
    expect(asked).toBe(6);
    for (const location of [
      'http://',
      'ftp://127.0.0.1/',
      'http://169.254.169.254/',
      'http://[::1]/',
      'http://10.0.0.1/',
    ]) {
      expect(await callWith(to(location)), location).toMatchObject(failure('egress_refused', false));
    }
  });

  test('a flood of headers', async () => {
    const flood = 'x-flood: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1_000);
    const answer = await callWith(socket => socket.end(`${head(`${flood}content-length: 0`)}`));
    expect(answer).toMatchObject(failure('response_headers_too_large', false));
    const endless = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write(flood), 1);
      socket.on('close', () => clearInterval(timer));
    };
    expect(await callWith(endless)).toMatchObject(failure('response_headers_too_large', false));
  });

  test('an answer that is not HTTP', async () => {
    expect(await callWith(socket => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))).toMatchObject(
      failure('response_malformed', false),
    );
    const status = await callWith(socket => socket.end('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'));
    expect(status).toMatchObject(failure('response_malformed', false));
  });
});

describe('a body is read according to its content type', () => {
  const readBody = async (type: string, body: string | Buffer) => {
    const answer = await callWith(whole(`content-type: ${type}`, body));
    if (answer.kind === 'failed') return answer.code;
    const { body: value, encoding } = answer.response;
    return encoding === undefined ? value : [encoding, value];
  };
  const base64 = (bytes: Buffer) => ['base64', bytes.toString('base64')];

  test('JSON is parsed, and invalid JSON fails', async () => {
    expect(await readBody('application/json', '\ufeff{"a":1}')).toEqual({ a: 1 });
    expect(await readBody('application/problem+json; charset=utf-8', '[1]')).toEqual([1]);
    expect(await readBody('application/json', '')).toBeNull();
    for (const body of ['{"a":', 'NaN', Buffer.from([0x22, 0xff, 0x22])]) {
      expect(await readBody('application/json', body)).toBe('response_malformed');
    }
  });

  test('JSON that cannot be stored fails: NUL, half a surrogate pair, depth', async () => {
    for (const body of ['"\\u0000"', '"\\ud800"', '['.repeat(500_000) + ']'.repeat(500_000)]) {
      expect(await readBody('application/json', body)).toBe('result_not_storable');
    }
  });

  test('text is decoded by its charset; other bytes are base64', async () => {
    const latin = Buffer.from('Grüße', 'latin1');
    expect(await readBody('text/plain; charset=iso-8859-1', latin)).toBe('Grüße');
    expect(await readBody('text/csv; charset="UTF-8"', 'a,ü')).toBe('a,ü');
    expect(await readBody('text/plain', latin)).toEqual(base64(latin));
    expect(await readBody('text/plain; charset=klingon', 'abc')).toBe('abc');
    expect(await readBody('text/plain; charset=klingon', latin)).toEqual(base64(latin));
    expect(await readBody('text/plain', 'a\0b')).toEqual(base64(Buffer.from('a\0b')));
    expect(await readBody('application/octet-stream', 'abc')).toBe('abc');
  });
});

test('connections are kept for the next requests', async () => {
  let connections = 0;
  const kept = new Set<Socket>();
  const url = await serve(socket => {
    if (!kept.has(socket)) connections++;
    kept.add(socket);
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: text/plain\r\n\r\nok');
  });
  for (let n = 0; n < 20; n++) expect(await send(url)).toMatchObject({ response: { body: 'ok' } });
  // An immediate next request may find that the connection is not free yet.
  expect(connections).toBeLessThan(5);
});

test('responses of a workspace that arrive at the same time have a bounded memory', async () => {
  const services = createTestServices(db, { clock });
  const memory = { ...services.config.orchestrator.memory, uncommittedResultBytes: 100_000 };
  const config = { ...services.config, orchestrator: { ...services.config.orchestrator, memory } };
  // The slow response may take longer here.
  const patient = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  const small = createHttpRequester({ ...services, config, egress: patient });
  const large = await serve(whole('content-type: text/plain', 'x'.repeat(80_000)));
  const open: Socket[] = [];
  const slow = await serve(socket => {
    open.push(socket);
    socket.write(`${head('content-type: text/plain')}${'x'.repeat(50_000)}`);
  });
  const signal = new AbortController().signal;
  const to = (url: string, tenantId: string) => small.send(callOf(url, { tenantId }), { signal });
  const waiting = to(slow, 'acme');
  await expect.poll(async () => (await to(large, 'acme')).kind).toBe('failed');
  expect(await to(large, 'acme')).toMatchObject(failure('response_memory_used_up', true));
  expect(await to(large, 'rival')).toMatchObject({ kind: 'response' });
  for (const socket of open) socket.end();
  expect(await waiting).toMatchObject({ kind: 'response' });
  expect(await to(large, 'acme')).toMatchObject({ kind: 'response' });
  await patient.close();
});
