import { AppError } from '../platform/errors.ts';
import { newRequestId } from '../platform/ids.ts';

/** A request as the API reads it, from either server (Node's own, or a fetch handler). */
export type ApiRequest = {
  method: string;
  /** Percent-encoded path, without the query. */
  pathname: string;
  /** `?…` or empty. */
  search: string;
  header: (name: string) => string | undefined;
  /** The body's bytes. AppError 413 beyond `limit`, 400 where the client went away. */
  body: (limit: number) => Promise<Uint8Array>;
  /** The peer's address as the rate limiter counts it. */
  address: string;
  /** Calls the listener when the client has left, at most once; returns a function that takes the listener back. */
  onDisconnect?: (listener: () => void) => () => void;
};

/** `headers` in the case they are sent in. A null body sends none. */
export type ApiResponse = { status: number; headers: Record<string, string>; body: string | null };

/** The largest request body in bytes; the graph of a workflow has the same limit (docs/specification/limits.md#sizes). */
export const bodyLimit = 1024 * 1024;

/** Headers of every response: browsers must not sniff, cache, frame or run a response of the API. */
export const protectiveHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** A caller's own request id where it is a sane one (for tracing across systems), else a new one. */
export function requestIdOf(header: ApiRequest['header']): string {
  const given = header('x-request-id');
  return given !== undefined && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : newRequestId();
}

/** Paths without a query that parsing would leave as they are: nothing to decode, no empty or dot segment. */
const plainPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+$/;

/** The target as WHATWG parsing has it, like a fetch Request: dot segments are resolved before anything is routed. */
export function readTarget(target: string): { pathname: string; search: string } {
  if (plainPath.test(target)) return { pathname: target, search: '' };
  if (!URL.canParse(target, 'http://localhost')) return { pathname: '/', search: '' };
  const { pathname, search } = new URL(target, 'http://localhost');
  return { pathname, search };
}

export function tooLarge(limit: number): AppError {
  return new AppError(413, 'body_too_large', `The request body is larger than ${limit} bytes.`);
}

/** AppError 413 by the Content-Length alone, before a byte is read. */
export function checkContentLength(header: ApiRequest['header'], limit: number): void {
  if (Number(header('content-length') ?? 0) > limit) throw tooLarge(limit);
}

/** Reads a fetch Request's body up to `limit` bytes. */
export async function readFetchBody(request: Request, limit: number): Promise<Uint8Array> {
  checkContentLength(name => request.headers.get(name) ?? undefined, limit);
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** A fetch Request as the API reads it. */
export function fromFetch(request: Request, address: string): ApiRequest {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    pathname,
    search,
    header: name => request.headers.get(name) ?? undefined,
    body: limit => readFetchBody(request, limit),
    address,
    onDisconnect: listener => {
      request.signal.addEventListener('abort', listener, { once: true });
      return () => request.signal.removeEventListener('abort', listener);
    },
  };
}

/** Statuses a fetch Response may not carry a body with. */
export function toFetch(response: ApiResponse): Response {
  return new Response(response.body, { status: response.status, headers: response.headers });
}
