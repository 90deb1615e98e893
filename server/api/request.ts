import { Readable } from 'node:stream';
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
  /** All header names, in lower case. */
  headerNames: () => readonly string[];
  /** Reads the body's bytes, once for all callers. Throws AppError 413 beyond `limit`, 400 if the client disconnected. */
  body: (limit: number) => Promise<Uint8Array>;
  /** The client's address for the rate limiter. */
  address: string;
  /** Whether another node of the cluster has forwarded the request, and has counted it against the limits. */
  forwarded?: boolean;
  /**
   * Calls the listener at most once, when the client has disconnected; returns a function that removes the listener.
   */
  onDisconnect?: (listener: () => void) => () => void;
};

/** `headers` with the case in which they are sent. A null body sends none, but for a stream. */
export type ApiResponse = {
  status: number;
  headers: Record<string, string>;
  body: string | null;
  /** Text that is sent as it comes, instead of a body. */
  stream?: StreamedText | undefined;
  /** The answer of another node, which is sent as it is, instead of a body: complete, or as it comes. */
  relayed?: Buffer | Readable | undefined;
};

/** `ended` aborts when the connection has to end, even though the client does not read. `abandon`: the client has left. */
export type StreamedText = { text: AsyncIterable<string>; ended: AbortSignal; abandon(): void };

/** The largest request body in bytes; the graph of a workflow has the same limit (docs/specification/limits.md#sizes). */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Headers of every response: browsers must not sniff, cache, frame or run a response of the API. */
export const protectiveHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** Returns the caller's own request id if it is well-formed (for tracing across systems), else a new one. */
export function requestIdOf(header: ApiRequest['header']): string {
  const given = header('x-request-id');
  return given !== undefined && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : newRequestId();
}

/** Paths that parsing would leave unchanged: nothing to decode, no empty or dot segment, and no query. */
const plainPath = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+$/;

/** Returns the target as parsed by WHATWG rules, like a fetch Request: dot segments are resolved before routing. */
export function readTarget(target: string): { pathname: string; search: string } {
  if (plainPath.test(target)) return { pathname: target, search: '' };
  if (!URL.canParse(target, 'http://localhost')) return { pathname: '/', search: '' };
  const { pathname, search } = new URL(target, 'http://localhost');
  return { pathname, search };
}

export function tooLarge(limit: number): AppError {
  return new AppError(413, 'body_too_large', `The request body is larger than ${limit} bytes.`);
}

/** Throws AppError 413 based on the Content-Length alone, before any byte is read. */
export function checkContentLength(header: ApiRequest['header'], limit: number): void {
  if (Number(header('content-length') ?? 0) > limit) throw tooLarge(limit);
}

/** Reads a fetch Request's body up to `limit` bytes. */
async function readFetchBody(request: Request, limit: number): Promise<Uint8Array> {
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

/** Converts a fetch Request to the API's form. */
export function fromFetch(request: Request, address: string): ApiRequest {
  const { pathname, search } = new URL(request.url);
  let read: Promise<Uint8Array> | undefined;
  return {
    method: request.method,
    pathname,
    search,
    header: name => request.headers.get(name) ?? undefined,
    headerNames: () => [...request.headers.keys()],
    body: limit => {
      read ??= readFetchBody(request, limit);
      return read;
    },
    address,
    onDisconnect: listener => {
      request.signal.addEventListener('abort', listener, { once: true });
      return () => request.signal.removeEventListener('abort', listener);
    },
  };
}

/** Statuses a fetch Response may not carry a body with. */
export function toFetch(response: ApiResponse): Response {
  const { status, headers, body, stream, relayed } = response;
  if (relayed !== undefined) {
    const sent = Buffer.isBuffer(relayed) ? new Uint8Array(relayed) : (Readable.toWeb(relayed) as ReadableStream);
    return new Response(status === 204 ? null : sent, { status, headers });
  }
  return new Response(stream === undefined ? body : readable(stream), { status, headers });
}

/** Returns streamed text as bytes, which are produced on demand. */
function readable({ text, ended, abandon }: StreamedText): ReadableStream<Uint8Array> {
  const pieces = text[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      // If the client reads, the text ends normally, and this does nothing.
      const cut = () => (controller.desiredSize ?? 0) <= 0 && controller.error(ended.reason);
      ended.addEventListener('abort', cut, { once: true });
    },
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      // This comes first, because the awaited piece may never arrive.
      abandon();
      await pieces.return?.();
    },
  });
}
