import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { ApiResponse } from './request.ts';

/** Shorter texts save less than their compression costs, and fit into one packet anyway. */
const MIN_CHARACTERS = 1_024;
/**
 * Longer texts are compressed in Node's thread pool. A handover costs 0.4 ms of CPU, and next to other work it waits for
 * a core; compressing 3 kB takes 0.1 ms, and 16 kB 0.2 ms.
 */
const MAX_INLINE_CHARACTERS = 16_384;

// The default quality of 11 takes fifty times as long.
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const brotliInPool = promisify(brotliCompress);
const gzipInPool = promisify(gzip);
const isShort = (text: string): boolean => text.length <= MAX_INLINE_CHARACTERS;
const compress = {
  br: (text: string) => (isShort(text) ? brotliCompressSync(text, brotli) : brotliInPool(text, brotli)),
  gzip: (text: string) => (isShort(text) ? gzipSync(text) : gzipInPool(text)),
};
type Coding = keyof typeof compress;

/**
 * Returns the coding for a response: brotli, or else gzip, if the `Accept-Encoding` header accepts it (RFC 9110, 12.5.3). Null if
 * it accepts neither, or without a header: a client that names no coding gets plain text.
 */
export function codingOf(acceptEncoding: string | undefined): Coding | null {
  if (acceptEncoding === undefined) return null;
  const weights = new Map<string, number>();
  for (const item of acceptEncoding.toLowerCase().split(',', 20)) {
    const [coding = '', ...parameters] = item.split(';').map(part => part.trim());
    const q = parameters.find(parameter => parameter.startsWith('q='));
    weights.set(coding, q === undefined ? 1 : Number(q.slice(2)));
  }
  const accepts = (coding: Coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : null;
}

/** A response as it is sent. */
export type SentResponse = Omit<ApiResponse, 'body'> & { body: string | Buffer | null };

/**
 * Returns a response with its text compressed, if the client accepts that and the text is long enough. Strong ETags
 * stay the same: they name states of a resource, and no response of the API may be stored.
 */
export async function compressed(response: ApiResponse, acceptEncoding: string | undefined): Promise<SentResponse> {
  const { body, headers, status } = response;
  if (body === null || body.length < MIN_CHARACTERS) return response;
  const coding = codingOf(acceptEncoding);
  if (coding === null) return response;
  const coded = { ...headers, 'Content-Encoding': coding, Vary: 'Accept-Encoding' };
  return { status, headers: coded, body: await compress[coding](body) };
}
