import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import { AppError } from '../../../platform/errors.ts';
import { MAX_DELIVERY_BYTES } from '../schemas.ts';

type Decoder = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  // RFC 9110 defines deflate as the zlib format. Some senders omit the zlib header.
  ['deflate', (bytes, options) => promisify(hasZlibHeader(bytes) ? inflate : inflateRaw)(bytes, options)],
  ['br', promisify(brotliDecompress)],
]);

/**
 * Returns whether bytes begin with a zlib header (RFC 1950): the method 8 in the lower half of the first byte, and two bytes
 * that are a multiple of 31.
 */
const hasZlibHeader = ([first = 0, second = 0]: Uint8Array) => first % 16 === 8 && (first * 256 + second) % 31 === 0;

/**
 * Returns the bytes of a body without its content coding. Stops as soon as the bytes exceed the limit of a delivery, so
 * that a small body that expands to gigabytes costs no more than any other. Throws AppError 413, 415 for another
 * coding, 400.
 */
export async function expandBody(bytes: Uint8Array, contentEncoding: string | undefined): Promise<Uint8Array> {
  const codings = (contentEncoding ?? '').split(',').map(coding => coding.trim().toLowerCase());
  const [coding, ...others] = codings.filter(each => each !== '' && each !== 'identity');
  if (coding === undefined || bytes.byteLength === 0) return bytes;
  const decode = decoders.get(coding);
  if (decode === undefined || others.length > 0) {
    const message =
      'This Content-Encoding is not accepted: send the body as it is, or with one of gzip, deflate and br.';
    throw new AppError(415, 'unsupported_media_type', message, { headers: { 'Accept-Encoding': 'gzip, deflate, br' } });
  }
  try {
    return await decode(bytes, { maxOutputLength: MAX_DELIVERY_BYTES });
  } catch (cause) {
    throw problemOf(coding, cause);
  }
}

function problemOf(coding: string, cause: unknown): AppError {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
    const message = `The request body is larger than ${MAX_DELIVERY_BYTES} bytes once it is decompressed.`;
    return new AppError(413, 'body_too_large', message, { cause });
  }
  const message = `The request body is damaged, cut off, or not ${coding}, although its Content-Encoding says so.`;
  return new AppError(400, 'malformed_body', message, { cause });
}
