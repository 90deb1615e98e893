import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { maybeDamaged, value } from './documents.ts';
import type { Source } from './source.ts';

/** A body, one character for each byte, and the headers that describe it; null: not sent. */
type DeliveryBody = { body: string; type: string | null; coding: string | null };

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const compressors = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;
const codings = ['gzip', 'x-gzip', 'deflate', 'br'] as const;

/** Small bodies that expand to 8 MiB. */
const bombs = [gzipSync, deflateSync, deflateRawSync, brotliCompressSync].map(compress =>
  latin1(compress(Buffer.alloc(8 * 1024 * 1024, '['))),
) as [string, ...string[]];

const types = [
  'application/json',
  'application/cloudevents+json; charset=UTF-8',
  'application/cloudevents-batch+json',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=utf-16',
  'text/plain',
  'text/plain; charset=iso-8859-1',
  'application/xml',
  'application/json; charset=x',
  'application/json; charset="',
  'application/octet-stream',
  'multipart/form-data; boundary=x',
  'a/b, c/d',
  '/',
] as const;
const formNames = ['a', 'a', 'payload', '__proto__', 'constructor', 'a[]', '', '%zz', '%00', '%ff'] as const;

function content(source: Source): string {
  const text = maybeDamaged(source, value(source)).toWellFormed();
  const utf8 = latin1(Buffer.from(text));
  switch (source.between(0, 6)) {
    case 0:
      return `\xef\xbb\xbf${utf8}`;
    case 1:
      return source.many(0, 8, () => `${source.pick(formNames)}=${encodeURIComponent(text)}`).join('&');
    case 2:
      return source.pick(['', ' ', '\xef\xbb\xbf', '\xff\xfe', '\xfe\xff\x00', '\x00', '{', '[1', '1e400']);
    case 3:
      return `\xff\xfe${latin1(Buffer.from(text, 'utf16le'))}`;
    case 4:
      return `<?xml version="1.0" encoding="${source.pick(['ISO-8859-1', 'x', 'UTF-16', '"'])}"?>${source.bytes(0, 60)}`;
    default:
      return utf8;
  }
}

/** Returns a body as senders send it, or a damaged one, of any type, with or without a content coding. */
export function deliveryBody(source: Source): DeliveryBody {
  const type = source.oneIn(6) ? null : source.pick(types);
  const plain = content(source);
  if (!source.oneIn(2)) return { body: plain, type, coding: null };
  const coding = source.pick(codings);
  if (source.oneIn(10)) return { body: source.pick(bombs), type, coding };
  const whole = latin1(compressors[coding](Buffer.from(plain, 'latin1')));
  const body = source.pick<() => string>([
    () => whole,
    () => whole,
    () => whole.slice(0, source.between(0, whole.length)),
    () => source.mutate(whole),
    () => plain,
  ])();
  return { body, type, coding: source.oneIn(8) ? source.pick(['zstd', 'gzip, gzip', 'identity', ',', 'br']) : coding };
}

/** Returns the headers of an event in the binary mode, some of them malformed. */
export function cloudEventHeaders(source: Source): [string, string][] {
  const odd = source.pick(['1.0', '"', '%', '%ff', '"\\"', '']);
  const names = ['ce-specversion', 'ce-id', 'ce-source', 'ce-type', 'ce-constructor', 'ce-data'];
  return names.flatMap((name): [string, string][] => (source.oneIn(10) ? [] : [[name, odd]]));
}
