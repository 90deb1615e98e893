import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  inflateRawSync,
  unzipSync,
} from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createTestWebhook,
  startWebhookService,
  type TestWebhook,
  type WebhookService,
} from '../../testing/webhooks.ts';
import { expandBody } from './body/expand.ts';
import { readForm } from './body/form.ts';
import { settleDeliveries } from './delivery-log.ts';
import { MAX_DELIVERY_BYTES } from './schemas.ts';

let service: WebhookService;
let webhook: TestWebhook;

beforeAll(async () => {
  service = await startWebhookService();
  webhook = await createTestWebhook(service);
});
afterAll(() => service.close());

type Sent = Parameters<WebhookService['deliver']>[1];

/** Returns the input of the run that a delivery starts. */
async function inputOf(sent: Sent): Promise<unknown> {
  const answer = await service.deliver(webhook, sent);
  expect([answer.status, answer.body]).toEqual([202, expect.objectContaining({ run_id: expect.any(String) })]);
  return service.inputOf(answer.body.run_id);
}

async function refusalOf(sent: Sent) {
  const { status, body, headers } = await service.deliver(webhook, sent);
  return { status, code: body.code, error: body.error, headers };
}

const bytes = (...parts: (string | number[] | Uint8Array)[]) =>
  new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part as string))));
const FORM = 'application/x-www-form-urlencoded';

describe('JSON', () => {
  test.each<[what: string, body: string | Uint8Array<ArrayBuffer>]>([
    ['nothing', ''],
    ['blanks', ' \r\n'],
    ['a byte order mark alone', '\uFEFF'],
  ])('an empty body is an empty object: %s', async (_, body) => {
    for (const type of ['application/json', 'text/plain', FORM, null])
      expect(await inputOf({ body, type })).toEqual({});
  });

  test('may begin with a byte order mark, which also says that it is UTF-16', async () => {
    const text = '{"a":"ü"}';
    const utf16 = Buffer.from(text, 'utf16le');
    for (const body of [
      `\uFEFF${text}`,
      bytes([0xff, 0xfe], utf16),
      bytes([0xfe, 0xff], Buffer.from(utf16).swap16()),
    ]) {
      expect(await inputOf({ body })).toEqual({ a: 'ü' });
    }
  });

  test.each([
    'application/vnd.api+json',
    'application/cloudevents+json; charset=UTF-8',
    'application/problem+json;charset="utf-8"',
    'text/json',
    'application/x-json',
    'application/octet-stream',
    null,
  ])('is read as %s', async type => {
    expect(await inputOf({ body: '{"a":"ü"}', type })).toEqual({ a: 'ü' });
  });

  test.each<[string, Uint8Array<ArrayBuffer>]>([
    ['application/json; charset=utf-16le', bytes(Buffer.from('{"a":"ü"}', 'utf16le'))],
    ['application/json; charset=iso-8859-1', bytes(Buffer.from('{"a":"ü"}', 'latin1'))],
    // The charset that frameworks add without being asked.
    ['application/json; charset=ISO-8859-1', bytes('{"a":"ü"}')],
    ['text/plain; charset=shift_jis', bytes([0x83, 0x65])],
    ['text/xml', bytes('<?xml version="1.0" encoding="ISO-8859-1"?><a>', [0xfc], '</a>')],
  ])('and text are decoded as %s', async (type, body) => {
    const expected = type.includes('shift_jis')
      ? 'テ'
      : type.includes('xml')
        ? expect.stringContaining('<a>ü</a>')
        : null;
    expect(await inputOf({ body, type })).toEqual(expected === null ? { a: 'ü' } : { body: expected });
  });

  test('that is malformed is 400, with a reason that does not quote it', async () => {
    expect(await refusalOf({ body: '{"secret" 1}' })).toMatchObject({
      status: 400,
      code: 'malformed_body',
      error: expect.stringContaining('at position 10'),
    });
    const { error } = await refusalOf({ body: '{"secret":secret}' });
    expect(error).toBe('The request body is not valid JSON.');
    // Without a Content-Type, a text that begins like JSON must be JSON.
    expect(await refusalOf({ body: '{"a":1', type: null })).toMatchObject({ status: 400, code: 'malformed_body' });
    await settleDeliveries(service.services);
    const { body } = await service.call(service.manager, 'GET', `${webhook.path}/deliveries`);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(JSON.stringify(body)).toContain('at position 10');
  });

  test.each<[type: string, body: Uint8Array<ArrayBuffer>, status: number, error: RegExp]>([
    ['application/json', bytes([0x22, 0xff, 0x22]), 400, /not UTF-8, and its Content-Type names no charset/],
    ['text/plain; charset=utf-8', bytes([0xff]), 400, /not UTF-8\./],
    ['text/plain; charset=klingon', bytes('nuqneH'), 415, /charset/],
    ['image/png', bytes('x'), 415, /image\/png is not accepted: send application\/json/],
    ['a/b<script>', bytes('x'), 415, /not a media type/],
  ])('and text as %s are refused with a reason in one line', async (type, body, status, error) => {
    const refused = await refusalOf({ type, body });
    expect([refused.status, refused.error]).toEqual([status, expect.stringMatching(error)]);
    expect(refused.error).not.toMatch(/[\n<]/);
  });
});

describe('text and XML', () => {
  test.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'application/xml',
    'text/xml',
    'application/soap+xml',
    'text/csv',
  ])('as %s are the text', async type => {
    const body = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>\r\n{"a":1}';
    expect(await inputOf({ body, type })).toEqual({ body });
    expect(await inputOf({ body: '{"a":1}', type })).toEqual({ body: '{"a":1}' });
  });

  test.each<[string, unknown]>([
    ['hello', 'hello'],
    ['42', 42],
    ['1e5x', '1e5x'],
    ['true', true],
    ['[1]', [1]],
    ['a=1&b=2', 'a=1&b=2'],
  ])('without a type, %s is %j', async (body, value) => {
    expect(await inputOf({ body, type: null })).toEqual({ body: value });
  });
});

describe('a form', () => {
  test.each<[form: string, input: object]>([
    ['a=1&b=x+y%20z&c=%C3%A9&d=', { a: '1', b: 'x y z', c: 'é', d: '' }],
    ['a=1&a=2&b=3&a=', { a: ['1', '2', ''], b: '3' }],
    ['a[]=1&b[c]=2', { 'a[]': '1', 'b[c]': '2' }],
    ['a&&=b&c=%zz', { a: '', '': 'b', c: '%zz' }],
    ['payload=hello', { payload: 'hello' }],
    ['payload=%7B%7D&other=1', { payload: '{}', other: '1' }],
    ['payload=%7B%7D&payload=%7B%7D', { payload: ['{}', '{}'] }],
    ['payload=%7B%22n%22%3A%5B1%2C%7B%22b%22%3Anull%7D%5D%7D', { n: [1, { b: null }] }],
    ['{"n":1}', { n: 1 }],
  ])('%s is %j', async (body, input) => {
    expect(await inputOf({ body, type: FORM })).toEqual(input);
  });

  test('may have fields with names of Object.prototype, which are data', async () => {
    const body = '__proto__=1&constructor=2&toString=3&__proto__=4&hasOwnProperty=5';
    const answer = await service.deliver(webhook, { body, type: `${FORM}; charset=utf-8` });
    expect(JSON.stringify(await service.inputOf(answer.body.run_id))).toBe(
      '{"__proto__":["1","4"],"constructor":"2","toString":"3","hasOwnProperty":"5"}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('with broken JSON in its payload, or text that cannot be stored, is refused', async () => {
    expect(await refusalOf({ body: 'payload=%7B', type: FORM })).toMatchObject({ status: 400, code: 'malformed_body' });
    expect(await refusalOf({ body: 'a=%00', type: FORM })).toMatchObject({ status: 422, code: 'invalid_input' });
    const nested = `payload=${'%5B'.repeat(101)}${'%5D'.repeat(101)}`;
    expect(await refusalOf({ body: nested, type: FORM })).toMatchObject({ status: 400, code: 'too_deep' });
  });

  test('of many fields is read in linear time', () => {
    const distinct = Array.from({ length: 30_000 }, (_, n) => `f${n}=`).join('&');
    expect(Object.keys(readForm(distinct) as object)).toHaveLength(30_000);
    expect(readForm('a=1&'.repeat(60_000))).toEqual({ a: Array.from({ length: 60_000 }, () => '1') });
    expect(readForm('&'.repeat(MAX_DELIVERY_BYTES))).toEqual({});
  });
});

/** Returns the CPU time of this process in ms during `work`. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Decompresses a body without a limit. */
function expandWhole(coding: string, body: Uint8Array): Buffer {
  if (coding === 'br') return brotliDecompressSync(body);
  return body[0] === 0x1f || body[0] === 0x78 ? unzipSync(body) : inflateRawSync(body);
}

describe('a content coding', () => {
  const json = '{"a":"ü","b":[1,2,3]}';
  const codings: [string, (text: string | Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ];

  test.each(codings)('%s is undone, and the signature is over the bytes as sent', async (coding, compress) => {
    const headers = { 'Content-Encoding': coding };
    const body = bytes(compress(json));
    expect(await inputOf({ body, headers })).toEqual({ a: 'ü', b: [1, 2, 3] });
    expect(await inputOf({ body: bytes(compress('a=1')), type: FORM, headers })).toEqual({ a: '1' });
    const ofText = await service.deliver(webhook, { body, headers, signature: `sha256=${'0'.repeat(64)}` });
    expect([ofText.status, ofText.body.code]).toEqual([401, 'unauthenticated']);
  });

  test('may be identity, or absent for an empty body', async () => {
    expect(await inputOf({ body: json, headers: { 'Content-Encoding': 'identity' } })).toMatchObject({ a: 'ü' });
    expect(await inputOf({ body: '', headers: { 'Content-Encoding': 'gzip' } })).toEqual({});
  });

  test.each(codings)('%s that is cut off, damaged, or not there is 400', async (coding, compress) => {
    const headers = { 'Content-Encoding': coding };
    const whole = compress(json.repeat(50));
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 4, 24);
    for (const body of [whole.subarray(0, -9), whole.subarray(0, 1), damaged, Buffer.from(json)]) {
      const refused = await refusalOf({ body: bytes(body), headers });
      expect([refused.status, refused.code]).toEqual([400, 'malformed_body']);
    }
  });

  test.each(codings)('%s may expand to the limit, and stops a byte beyond it', async (coding, compress) => {
    const headers = { 'Content-Encoding': coding };
    const sized = (size: number) => bytes(compress(`"${'x'.repeat(size - 2)}"`));
    expect((await service.deliver(webhook, { body: sized(MAX_DELIVERY_BYTES), headers })).status).toBe(202);
    expect(await refusalOf({ body: sized(MAX_DELIVERY_BYTES + 1), headers })).toMatchObject({
      status: 413,
      code: 'body_too_large',
      error: expect.stringContaining('once it is decompressed'),
    });
  });

  test.each(codings)('a bomb of %s costs neither memory nor time', async (coding, compress) => {
    const bomb = bytes(compress(Buffer.alloc(64 * 1024 * 1024)));
    expect(bomb.byteLength).toBeLessThan(MAX_DELIVERY_BYTES);
    const headers = { 'Content-Encoding': coding };
    expect(await refusalOf({ body: bomb, headers })).toMatchObject({ status: 413, code: 'body_too_large' });
    expect((await service.deliver(webhook, { body: bomb, headers, signature: null })).status).toBe(401);

    const whole = await cpuOf(() => expandWhole(coding, bomb));
    const { arrayBuffers } = process.memoryUsage();
    const bounded = await cpuOf(() => Promise.allSettled(Array.from({ length: 20 }, () => expandBody(bomb, coding))));
    // The decoder of br works in blocks of up to 16 MiB, regardless of the requested size; the others stop at the
    // limit.
    expect(bounded / 20).toBeLessThan(whole / 2);
    expect(process.memoryUsage().arrayBuffers - arrayBuffers).toBeLessThan(64 * 1024 * 1024);
  });

  test.each(['zstd', 'compress', 'gzip, gzip', 'gzip, br', 'x'])(
    '%s is 415, and says what is accepted',
    async coding => {
      const refused = await refusalOf({ body: json, headers: { 'Content-Encoding': coding } });
      expect([refused.status, refused.code]).toEqual([415, 'unsupported_media_type']);
      expect(refused.headers.get('accept-encoding')).toBe('gzip, deflate, br');
    },
  );
});

describe('a CloudEvent', () => {
  const attributes = { specversion: '1.0', id: 'A-1', source: '/shop', type: 'com.example.order' };
  const headersOf = (more: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries({ ...attributes, ...more }).map(([name, value]) => [`ce-${name}`, value]));

  test('is the same in the structured and in the binary mode', async () => {
    const event = {
      ...attributes,
      time: '2026-01-01T00:00:00Z',
      traceid: 'é %',
      datacontenttype: 'application/json',
      data: { n: 1 },
    };
    const type = 'application/cloudevents+json; charset=UTF-8';
    expect(await inputOf({ body: JSON.stringify(event), type })).toEqual(event);
    const headers = headersOf({ time: event.time, traceid: '%C3%A9%20%25' });
    expect(await inputOf({ body: '{"n":1}', headers })).toEqual(event);
  });

  test('of a batch is an item of a list', async () => {
    const type = 'application/cloudevents-batch+json';
    expect(await inputOf({ body: JSON.stringify([attributes]), type })).toEqual({ body: [attributes] });
  });

  test('may carry text, a list, or nothing, and odd values', async () => {
    expect(await inputOf({ body: 'hi', type: 'text/plain', headers: headersOf() })).toEqual({
      ...attributes,
      datacontenttype: 'text/plain',
      data: 'hi',
    });
    expect(await inputOf({ body: '', type: null, headers: headersOf() })).toEqual(attributes);
    expect(await inputOf({ body: '[1]', headers: headersOf({ source: '"a \\"b\\""', x: '%zz', data: 'no' }) })).toEqual(
      {
        ...attributes,
        source: 'a "b"',
        x: '%zz',
        datacontenttype: 'application/json',
        data: [1],
      },
    );
  });

  test('needs all attributes that the specification requires; otherwise the headers mean nothing', async () => {
    const { 'ce-id': _, ...without } = headersOf();
    expect(await inputOf({ body: '{"n":1}', headers: without })).toEqual({ n: 1 });
  });

  test('with the name of a prototype is data', async () => {
    const input = await inputOf({ body: '{"n":1}', headers: headersOf({ constructor: 'c', tostring: 't' }) });
    expect(Object.entries(input as object)).toEqual(
      expect.arrayContaining([
        ['constructor', 'c'],
        ['tostring', 't'],
      ]),
    );
  });
});
