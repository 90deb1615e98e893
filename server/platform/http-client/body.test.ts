import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storageProblem } from '../storable-json.ts';
import { BodyMalformed, beginningOf, READ_MODES, readBody } from './body.ts';

const bytes = (text: string) => Buffer.from(text);
const base64 = (content: Buffer) => ({ body: content.toString('base64'), encoding: 'base64' });
const latin = Buffer.from('Grüße', 'latin1');
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('auto', () => {
  test.each([
    ['text/csv', 'id,name\n1,ü'],
    ['application/csv', 'id,name\n1,ü'],
    ['application/x-yaml', 'a: 1'],
    ['application/yaml', 'a: 1'],
    ['application/jwt', 'eyJhbGciOiJub25lIn0.e30.'],
    ['application/octet-stream', 'from S3'],
    ['binary/octet-stream', 'from S3'],
    ['application/x-ndjson', '{"a":1}\n{"a":2}\n'],
    ['application/pkcs10', '-----BEGIN CERTIFICATE REQUEST-----'],
    ['image/svg+xml', '<svg/>'],
    ['text/csv, text/csv', 'a,b'],
    ['text/csv; charset=utf-8, text/csv; charset=utf-8', 'a,ü'],
    ['text', 'odd'],
    ['', 'odd'],
    [';;;,,"', 'odd'],
    [null, '{"not":"parsed"}'],
  ])('%s is text', (type, text) => expect(readBody(bytes(text), type)).toEqual({ body: text }));

  test.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON ;charset="UTF-8"'],
    ['application/problem+json'],
    ['application/vnd.api+json; version=1'],
    ['text/json'],
    ['application/json, application/json'],
    ['application/json; profile="a,b;c"'],
    ['text/plain, application/json'],
  ])('%s is JSON, also with a byte order mark', type => {
    expect(readBody(bytes('{"a":"ü"}'), type)).toEqual({ body: { a: 'ü' } });
    expect(readBody(bytes('\ufeff{"a":1}'), type)).toEqual({ body: { a: 1 } });
    expect(() => readBody(bytes('{"a":'), type)).toThrow(BodyMalformed);
  });

  test('bytes that are not text become base64, even if their type is a text type', () => {
    for (const type of ['image/png', 'text/plain', 'application/octet-stream; charset=iso-8859-1', null]) {
      expect(readBody(png, type === 'text/plain' ? 'text/plain' : type)).toEqual(base64(png));
    }
    expect(readBody(bytes('a\0b'), 'text/plain')).toEqual(base64(bytes('a\0b')));
    // The start of an MP3 frame, which is a byte order mark in text.
    const mp3 = Buffer.from([0xff, 0xfe, 0x41, 0x42]);
    expect(readBody(mp3, 'application/octet-stream')).toEqual(base64(mp3));
  });

  test('text is decoded by its charset, and a byte order mark takes precedence', () => {
    expect(readBody(latin, 'text/plain; charset=iso-8859-1')).toEqual({ body: 'Grüße' });
    expect(readBody(bytes('Grüße'), 'text/plain; charset=klingon')).toEqual({ body: 'Grüße' });
    expect(readBody(bytes('\ufeffGrüße'), 'text/plain; charset=iso-8859-1')).toEqual({ body: 'Grüße' });
    const utf16 = Buffer.from('\ufeff{"a":"ü"}', 'utf16le');
    expect(readBody(utf16, 'application/json')).toEqual({ body: { a: 'ü' } });
    expect(readBody(Buffer.from(utf16).swap16(), 'text/plain')).toEqual({ body: '{"a":"ü"}' });
  });
});

test('mode json parses the body, even if the content type is another one', () => {
  expect(readBody(bytes('{"a":1}'), 'text/html', 'json')).toEqual({ body: { a: 1 } });
  expect(readBody(bytes('42'), null, 'json')).toEqual({ body: 42 });
  expect(readBody(bytes(''), 'text/html', 'json')).toEqual({ body: null });
  for (const odd of [bytes('<html>'), latin, gzipSync('{}')]) {
    expect(() => readBody(odd, 'application/json', 'json')).toThrow(BodyMalformed);
  }
});

test('mode text never parses the body, and never loses a character', () => {
  expect(readBody(bytes('{"a":1}'), 'application/json', 'text')).toEqual({ body: '{"a":1}' });
  expect(readBody(latin, 'application/json; charset=latin1', 'text')).toEqual({ body: 'Grüße' });
  for (const odd of [latin, png, bytes('a\0b')]) {
    expect(() => readBody(odd, 'application/json', 'text')).toThrow(BodyMalformed);
  }
});

test('mode bytes returns base64, for text and JSON too', () => {
  for (const content of [bytes('{"a":1}'), latin, png]) {
    expect(readBody(content, 'application/json', 'bytes')).toEqual(base64(content));
  }
});

test('the beginning of a truncated body is text up to its last complete character', () => {
  const text = bytes('Grüße');
  expect(beginningOf(text.subarray(0, 3), 'application/json')).toBe('Gr');
  expect(beginningOf(latin, 'text/plain; charset=latin1')).toBe('Grüße');
  expect(beginningOf(png, 'image/png')).toBeNull();
  expect(beginningOf(bytes(''), null)).toBeNull();
});

/** Any type with any bytes: a body is read, or it is malformed, and what is read can be stored or is refused later. */
test('any body of any type', () => {
  const types = fc.oneof(
    fc.constantFrom('application/json', 'text/plain', 'text/csv, text/csv', 'application/octet-stream', 'a/b+json'),
    fc.constantFrom('text/html; charset=utf-16', 'text/xml; charset="windows-1252"', 'application/json;charset=x'),
    fc.string(),
    fc.constant(null),
  );
  const plain = fc.oneof(
    fc.json().map(bytes),
    fc.string({ unit: 'binary' }).map(bytes),
    fc.uint8Array({ maxLength: 200 }).map(each => Buffer.from(each)),
  );
  const bodies = fc.oneof(
    plain,
    plain.map(each => Buffer.concat([Buffer.from('efbbbf', 'hex'), each])),
    plain.map(each => gzipSync(each)),
    plain.map(each => each.subarray(0, each.length - 1)),
  );
  fc.assert(
    fc.property(bodies, types, fc.constantFrom(...READ_MODES), (content, type, mode) => {
      try {
        const { body, encoding } = readBody(content, type, mode);
        if (content.length === 0) expect(body).toBeNull();
        if (encoding !== undefined) expect(Buffer.from(String(body), 'base64').equals(content)).toBe(true);
        if (typeof body === 'string' && mode === 'text') expect(storageProblem(body)).toBeNull();
        // Text that is not JSON is never lost.
        if (mode === 'auto' && encoding !== undefined) {
          const isText = Buffer.from(content.toString()).equals(content) && !content.includes(0);
          expect(isText).toBe(false);
        }
      } catch (error) {
        if (!(error instanceof BodyMalformed)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
});
