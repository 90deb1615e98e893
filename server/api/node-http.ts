import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Services } from '../operation/services.ts';
import { type AppError, badRequest } from '../platform/errors.ts';
import { newRequestId } from '../platform/ids.ts';
import type { RateLimitState } from '../platform/rate-limit.ts';
import { clientAddress } from './client-address.ts';
import { compressed, type SentResponse } from './compression.ts';
import { type DemoApi, isDemoApiPath } from './demo-api/demo-api.ts';
import type { DemoMcp } from './demo-mcp/demo-server.ts';
import { errorBody } from './failure.ts';
import { forwardedBy } from './forward/received.ts';
import { sendRelayed } from './forward/relay.ts';
import type { ForwardSeal } from './forward/signature.ts';
import { isApiPath } from './http-server.ts';
import { isMcpPath, type McpSurface } from './mcp/surface.ts';
import { rateHeaders, rateLimited } from './rate.ts';
import {
  type ApiRequest,
  type ApiResponse,
  checkContentLength,
  protectiveHeaders,
  readTarget,
  type StreamedText,
  tooLarge,
} from './request.ts';
import type { Rest } from './rest.ts';
import type { StaticAssets } from './static-assets.ts';
import { isTrpcPath, type Trpc } from './trpc.ts';

/**
 * The bytes of a body beyond the limit that are read and discarded, so that a client that is still sending reads the
 * 413.
 */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;

/**
 * Serves the API on Node's own request and response. A fetch Request and Response for each would cost more than the
 * rest of a trivial GET. Never rejects: a client that disconnects is not an error.
 */
export async function serveNode(
  surface: Rest | Trpc | McpSurface | DemoApi,
  request: IncomingMessage,
  response: ServerResponse,
  trustedProxies: number,
): Promise<void> {
  response.on('error', () => undefined);
  const answer = await surface({ ...fromNode(request, trustedProxies), onDisconnect: disconnectOf(response) });
  if (answer.stream !== undefined) return sendStream(answer, answer.stream, response);
  const { relayed } = answer;
  if (relayed !== undefined && !Buffer.isBuffer(relayed)) return sendRelayed(answer, relayed, response);
  const isHead = request.method === 'HEAD';
  const sent = relayed ? { ...answer, body: relayed } : await compressBody(answer, request);
  if (response.destroyed) return;
  sendNode(sent, response, isHead);
  if (!request.complete) discardRest(request);
}

const compressBody = async (answer: ApiResponse, { method, headers }: IncomingMessage): Promise<SentResponse> =>
  method === 'HEAD' ? answer : compressed(answer, headers['accept-encoding']);

const disconnectOf =
  (response: ServerResponse): NonNullable<ApiRequest['onDisconnect']> =>
  listener => {
    response.once('close', listener);
    return () => response.off('close', listener);
  };

/** The surfaces that answer on Node's own server, before Next: Next's route handlers serve a tenth of the requests per second. */
export type NodeSurfaces = {
  rest: Rest;
  trpc: Trpc;
  mcp: McpSurface;
  demoMcp?: DemoMcp | null;
  demoApi?: DemoApi | null;
  services: Pick<Services, 'rateLimiter' | 'cluster'>;
  /** Reads the headers of requests that other nodes forwarded; absent outside of a cluster. */
  forwardSeal?: ForwardSeal;
  /** The files of the builds of other nodes; absent outside of a cluster. */
  otherAssets?: StaticAssets;
};

/** Serves a request to one of the surfaces; null if no surface has the path, and nothing was done. */
export function serveSurfaces(
  { rest, trpc, mcp, demoMcp, demoApi, services }: NodeSurfaces,
  request: IncomingMessage,
  response: ServerResponse,
  trustedProxies: number,
): Promise<void> | null {
  const { url } = request;
  const address = () => fromNode(request, trustedProxies).address;
  if (demoMcp?.serves(url)) {
    return serveDemo(() => demoMcp.handle(request, response), services, address(), response);
  }
  if (demoApi && isDemoApiPath(url)) {
    return serveDemo(() => serveNode(demoApi, request, response, trustedProxies), services, address(), response);
  }
  const surface = isMcpPath(url) ? mcp : isApiPath(url) ? rest : isTrpcPath(url) ? trpc : null;
  return surface && serveNode(surface, request, response, trustedProxies);
}

/** The demos need no credential. Workflows call them, too, so an address may call both as often as a principal calls the API. */
async function serveDemo(
  serve: () => Promise<void>,
  { rateLimiter }: NodeSurfaces['services'],
  address: string,
  response: ServerResponse,
): Promise<void> {
  const state = await rateLimiter.take('principal', `demo:${address}`);
  if (state.allowed) return serve();
  answerRateLimited(response, state);
}

/** Answers 429 for paths outside of the surfaces. */
export function answerRateLimited(response: ServerResponse, state: RateLimitState): void {
  answerError(response, rateLimited(state), rateHeaders(state));
}

/** Answers with an error for paths outside of the surfaces. */
export function answerError(response: ServerResponse, error: AppError, more: Record<string, string> = {}): void {
  const requestId = newRequestId();
  const headers = {
    ...protectiveHeaders,
    ...more,
    ...error.headers,
    'X-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
  };
  response.on('error', () => undefined);
  sendNode({ status: error.status, headers, body: JSON.stringify(errorBody(error, requestId)) }, response, false);
}

/** Node's request as the API reads it. */
export function fromNode(request: IncomingMessage, trustedProxies: number): ApiRequest {
  const { pathname, search } = readTarget(request.url ?? '/');
  const header = headersOf(request);
  const forwarded = forwardedBy(request);
  let read: Promise<Uint8Array> | undefined;
  return {
    method: request.method ?? 'GET',
    pathname,
    search,
    header,
    headerNames: () => Object.keys(request.headers),
    body: limit => {
      read ??= readBody(request, limit);
      return read;
    },
    address:
      forwarded?.address ?? clientAddress(request.socket.remoteAddress, header('x-forwarded-for'), trustedProxies),
    ...(forwarded !== null && { forwarded: true }),
  };
}

function headersOf(request: IncomingMessage): ApiRequest['header'] {
  return name => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  checkContentLength(headersOf(request), limit);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onEarlyEnd = () => reject(badRequest('The request body ended early.', 'malformed_body'));
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= limit) chunks.push(chunk);
      else reject(tooLarge(limit));
    });
    request.once('end', () => {
      // `close` follows every request. Creating an error with a stack for each took 4 % of the time of a start.
      request.off('close', onEarlyEnd);
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    request.once('error', onEarlyEnd);
    request.once('close', onEarlyEnd);
  });
}

function sendNode({ status, headers, body }: SentResponse, response: ServerResponse, head: boolean): void {
  if (body === null) {
    response.writeHead(
      status,
      head || status === 204 || status === 304 ? headers : { ...headers, 'Content-Length': '0' },
    );
    response.end();
    return;
  }
  response.writeHead(status, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
  response.end(body); // a text as text: Node then sends head and body in one write
}

/** Sends text as it arrives, uncompressed, because compression would delay it. Waits for a client that reads more slowly. */
async function sendStream(
  { status, headers }: ApiResponse,
  { text, ended }: StreamedText,
  response: ServerResponse,
): Promise<void> {
  if (response.destroyed) return;
  response.writeHead(status, headers);
  for await (const piece of text) {
    if (response.destroyed) break;
    if (!response.write(piece)) await waitForDrain(response, ended);
  }
  response.end();
}

/** Resolves when the client has read enough or is gone. A client that does not read when the stream ends is cut off. */
function waitForDrain(response: ServerResponse, ended: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const cut = () => response.destroy();
    const finish = () => {
      response.off('drain', finish).off('close', finish);
      ended.removeEventListener('abort', cut);
      resolve();
    };
    response.on('drain', finish).on('close', finish);
    ended.addEventListener('abort', cut);
    if (ended.aborted) cut();
  });
}

function discardRest(request: IncomingMessage): void {
  let discarded = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.byteLength;
    if (discarded > MAX_DISCARDED_BYTES) request.socket.destroy();
  });
  request.resume();
}
