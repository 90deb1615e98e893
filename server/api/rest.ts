import type { Principal, RawRequest } from '../operation/context.ts';
import { type AnyOperation, type RawBody, STREAM_DONE, type StreamFrame } from '../operation/operation.ts';
import { hasRole } from '../orchestrator/ports/authority.ts';
import { constantTimeEqual } from '../platform/crypto/digest.ts';
import { AppError, invalid, notFound, unauthenticated } from '../platform/errors.ts';
import { readJson } from '../platform/json-text.ts';
import { type Authenticator, authenticate, type Credential, readCredential, servedOverHttps } from './authenticate.ts';
import { asAppError, errorBody, logFailure } from './failure.ts';
import type { Forward } from './forward/forward.ts';
import { parseInput, parsePath, readJsonBody, readQuery, requireJson } from './input.ts';
import { checkOutput, hasScope, type Invocation, type Invoker, invoke } from './invoke.ts';
import type { Metrics } from './metrics.ts';
import type { OpenStreams } from './open-streams.ts';
import { countAs, rateHeaders, rateLimited, takeRequest } from './rate.ts';
import type { RegisteredOperation, Registry } from './registry.ts';
import { type ApiRequest, type ApiResponse, MAX_BODY_BYTES, protectiveHeaders, requestIdOf } from './request.ts';
import { refuseCrossSite } from './same-origin.ts';
import { EventStream, streamHeaders } from './sse.ts';
import { isStreamPath } from './stream-query.ts';

/** A page of the API that is not an operation: `/healthz`, `/metrics`, `/v1/openapi.json`. GET and HEAD only. */
export type Page = {
  contentType: string;
  /** `search` is the query, with its question mark; empty without one. */
  render: (search?: string) => Promise<{ status: number; body: string }>;
  limited: boolean;
  /** The bearer token that it requires; null: no token is configured, so the page is closed. Absent: it is public. */
  token?: string | null;
};

export type RestOptions = Invoker &
  Authenticator & {
    registry: Registry;
    pages: ReadonlyMap<string, Page>;
    metrics: Metrics;
    streams: OpenStreams;
    /** Absent outside of a cluster. */
    forward?: Forward | undefined;
  };

/** The REST surface: every operation, the pages, and JSON errors for everything else. */
export type Rest = (request: ApiRequest) => Promise<ApiResponse>;

const json = 'application/json; charset=utf-8';
/** The facts about one request that are collected on the way; the failure path needs them too. */
type Exchange = {
  request: ApiRequest;
  requestId: string;
  headers: Record<string, string>;
  operation: string;
  /** The answer of the node to which an operation has handed the request over. */
  relayed?: ApiResponse;
};

/**
 * Makes the REST surface (docs/specification/http.md). It never rejects: an error that a use case throws becomes `{error, code,
 * …}`. HEAD is GET without its body; OPTIONS answers 204 with `Allow` (there is no CORS: browsers of other sites are refused).
 */
export function createRest(options: RestOptions): Rest {
  return async request => {
    const began = performance.now();
    const requestId = requestIdOf(request.header);
    const exchange: Exchange = {
      request,
      requestId,
      headers: { ...protectiveHeaders, 'X-Request-Id': requestId },
      operation: 'none',
    };
    const response = await respond(options, exchange).catch(thrown => failure(options, exchange, thrown));
    options.metrics.request(exchange.operation, response.status, performance.now() - began);
    return request.method === 'HEAD' ? { ...response, body: null, stream: undefined, relayed: undefined } : response;
  };
}

async function respond(options: RestOptions, exchange: Exchange): Promise<ApiResponse> {
  const { request } = exchange;
  const page = options.pages.get(request.pathname);
  if (page) return respondPage(options, exchange, page);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const match = options.registry.router.match(method, request.pathname);
  if (match.kind === 'found') return respondOperation(options, exchange, match.value, match.parameters);
  await limit(options, exchange, null);
  if (isStreamPath(request.pathname)) return upgradeRequired(exchange);
  if (match.kind === 'none') throw notFound('Route');
  return otherMethod(exchange, match.allow);
}

async function respondPage(options: RestOptions, exchange: Exchange, page: Page): Promise<ApiResponse> {
  exchange.operation = 'page';
  if (page.limited) await limit(options, exchange, null);
  if (exchange.request.method !== 'GET' && exchange.request.method !== 'HEAD') return otherMethod(exchange, ['GET']);
  if (page.token !== undefined) checkToken(page.token, exchange.request);
  const { status, body } = await page.render(exchange.request.search);
  return { status, headers: { ...exchange.headers, 'Content-Type': page.contentType }, body };
}

function checkToken(token: string | null, { header }: ApiRequest): void {
  const credential = readCredential(header, false);
  if (token === null || credential.kind !== 'pat' || !constantTimeEqual(credential.token, token)) {
    throw unauthenticated('This page needs the operator’s token: Authorization: Bearer <BATON_METRICS_TOKEN>.');
  }
}

async function respondOperation(
  options: RestOptions,
  exchange: Exchange,
  entry: RegisteredOperation,
  path: readonly string[],
): Promise<ApiResponse> {
  const { request, requestId } = exchange;
  const { operation } = entry;
  exchange.operation = operation.name;
  const credential = readCredential(request.header, servedOverHttps(options.services.config));
  const isPublic = operation.access === 'public';
  const principal = isPublic ? null : await authenticate(options, credential, request.header);
  await limit(options, exchange, principal);
  if (principal && credential.kind === 'session' && operation.method !== 'GET') {
    refuseCrossSite(request.header, options.services.config.http.url);
  }
  const forwarded =
    principal && operation.method !== 'GET' ? await handOver(options, exchange, entry, principal) : null;
  if (forwarded !== null) return forwarded;
  const call: Invocation = {
    entry,
    principal,
    requestId,
    surface: 'rest',
    clientAddress: request.address,
    header: request.header,
    ...(request.onDisconnect ? { onDisconnect: request.onDisconnect } : {}),
    ...(operation.raw ? { raw: rawRequest(options, exchange, entry, operation.raw) } : {}),
    input: () => readInput(entry, request, path),
  };
  try {
    if (operation.produces === 'text/event-stream') return await respondStream(options, exchange, call, credential);
    return await respondOutput(options, exchange, call);
  } catch (thrown) {
    // A read that needs the leader, such as a stream of events: it has done nothing yet.
    const isForLeader = operation.method === 'GET' && thrown instanceof AppError && thrown.code === 'not_leading';
    const answer = principal && isForLeader ? await handOver(options, exchange, entry, principal) : null;
    if (answer === null) throw thrown;
    return answer;
  }
}

/** Returns the answer of the node that leads the caller's workspace; null if the request is to be handled here. */
async function handOver(
  { forward }: RestOptions,
  exchange: Exchange,
  { operation }: RegisteredOperation,
  { tenantId }: Pick<Principal, 'tenantId'>,
): Promise<ApiResponse | null> {
  if (forward === undefined) return null;
  const { request, requestId } = exchange;
  const answer = await forward.toOwner(request, tenantId, { limit: operation.raw?.limit ?? MAX_BODY_BYTES, requestId });
  return answer && { ...answer, headers: { ...exchange.headers, ...answer.headers } };
}

async function respondOutput(options: RestOptions, exchange: Exchange, call: Invocation): Promise<ApiResponse> {
  const { operation } = call.entry;
  const { output, headers } = await invoke(options, call);
  if (exchange.relayed !== undefined) return exchange.relayed;
  for (const [name, value] of headers) exchange.headers[name] = value;
  if (operation.status === 204) return { status: 204, headers: exchange.headers, body: null };
  const status = operation.otherwise?.where(output) ? operation.otherwise.status : operation.status;
  return { status, ...bodyOf(operation, output, exchange) };
}

async function respondStream(
  options: RestOptions,
  { request, requestId, headers: own, operation: name }: Exchange,
  call: Invocation,
  credential: Credential,
): Promise<ApiResponse> {
  const { operation } = call.entry;
  const stream = new EventStream();
  request.onDisconnect?.(() => stream.abandon());
  try {
    const { output, headers } = await invoke(options, { ...call, stream: stream.connection });
    const sent = { ...own, ...Object.fromEntries(headers) };
    const { principal, header } = call;
    if (output === null || principal === null || operation.access === 'public') {
      stream.abandon();
      return { status: 204, headers: sent, body: null };
    }
    const { access, scope } = operation;
    const client = {
      principal,
      credential,
      header,
      may: (each: Principal) => hasRole(each.role, access) && hasScope(each, scope),
    };
    const text = stream.open(options.streams, client, output as AsyncIterable<StreamFrame>, {
      check: ({ json: data }) => data !== STREAM_DONE && options.checkOutput && checkOutput(operation, readJson(data)),
      failed(thrown) {
        const error = asAppError(thrown);
        logFailure(options.services.logger, error, { requestId, operation: name });
        return JSON.stringify(errorBody(error, requestId));
      },
    });
    if (request.method === 'HEAD') stream.abandon();
    return { status: operation.status, headers: { ...sent, ...streamHeaders }, body: null, stream: text };
  } catch (thrown) {
    stream.abandon();
    throw thrown;
  }
}

function bodyOf(
  operation: AnyOperation,
  output: unknown,
  { headers }: Exchange,
): Pick<ApiResponse, 'headers' | 'body'> {
  const text = operation.plainText?.(output) ?? null;
  if (text !== null) return { headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' }, body: text };
  if (operation.produces === undefined || typeof output !== 'string') {
    return { headers: { ...headers, 'Content-Type': json }, body: JSON.stringify(output) };
  }
  const file = {
    'Content-Type': `${operation.produces}; charset=utf-8; header=present`,
    'Content-Disposition': `attachment; filename="${operation.name}.csv"`,
  };
  return { headers: { ...headers, ...file }, body: output };
}

async function readInput(entry: RegisteredOperation, request: ApiRequest, path: readonly string[]): Promise<unknown> {
  if (!entry.operation.raw) return parseInput(entry, { path, fields: await readFields(entry, request) });
  return parsePath(entry, path, readQuery(entry, request.search));
}

function rawRequest(
  options: RestOptions,
  exchange: Exchange,
  entry: RegisteredOperation,
  { limit, mediaTypes }: RawBody,
): RawRequest {
  const { services } = options;
  const { request } = exchange;
  return {
    body: async () => {
      if (mediaTypes === undefined) requireJson(request.header('content-type'));
      return request.body(limit);
    },
    headersWith: prefix =>
      request.headerNames().flatMap(name => (name.startsWith(prefix) ? [[name, request.header(name) ?? '']] : [])),
    countAs: async key => {
      const state = await countAs(services.rateLimiter, key, request);
      // These replace the numbers of the address, which are irrelevant for an authenticated caller.
      exchange.headers = {
        ...protectiveHeaders,
        'X-Request-Id': exchange.requestId,
        ...rateHeaders(state),
      };
      if (!state.allowed) throw rateLimited(state);
    },
    handOver: async tenantId => {
      try {
        const answer = await handOver(options, exchange, entry, { tenantId });
        if (answer === null) return false;
        exchange.relayed = answer;
      } catch (thrown) {
        // The node that forwarded the request sends it somewhere else, so that this is no outcome of the delivery.
        if (!request.forwarded) throw thrown;
        exchange.relayed = failure(options, exchange, thrown);
      }
      return true;
    },
  };
}

/**
 * Returns the query parameters, or the fields of the JSON body. A route with a body accepts only the query parameters that it
 * declares.
 */
async function readFields(entry: RegisteredOperation, request: ApiRequest): Promise<Record<string, unknown>> {
  const query = readQuery(entry, request.search);
  if (entry.carrier === 'query') return query;
  const bytes = await request.body(MAX_BODY_BYTES);
  if (bytes.byteLength > 0) requireJson(request.header('content-type'));
  const fields = readJsonBody(bytes);
  const misplaced = (entry.operation.query ?? []).filter(name => Object.hasOwn(fields, name));
  if (misplaced.length === 0) return Object.assign(fields, query);
  const details = misplaced.map(path => ({ path, message: 'belongs to the query and cannot be sent in the body' }));
  throw invalid('The request is not valid.', details, 'validation_error');
}

async function limit(options: RestOptions, exchange: Exchange, principal: Principal | null): Promise<void> {
  const state = await takeRequest(options.services.rateLimiter, principal, exchange.request);
  Object.assign(exchange.headers, rateHeaders(state));
  if (!state.allowed) throw rateLimited(state);
}

/** Answers a request for the stream's path without an upgrade. Upgrade requests do not reach this surface. */
function upgradeRequired(exchange: Exchange): ApiResponse {
  if (exchange.request.method !== 'GET' && exchange.request.method !== 'HEAD') return otherMethod(exchange, ['GET']);
  throw new AppError(426, 'upgrade_required', 'This endpoint requires a WebSocket upgrade.', {
    headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
  });
}

function otherMethod(exchange: Exchange, known: readonly string[]): ApiResponse {
  const allow = [...new Set([...known, ...(known.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].join(', ');
  if (exchange.request.method === 'OPTIONS') {
    return { status: 204, headers: { ...exchange.headers, Allow: allow }, body: null };
  }
  throw new AppError(405, 'method_not_allowed', `This route does not support ${exchange.request.method}.`, {
    headers: { Allow: allow },
  });
}

function failure(options: RestOptions, exchange: Exchange, thrown: unknown): ApiResponse {
  const error = asAppError(thrown);
  logFailure(options.services.logger, error, exchange);
  return {
    status: error.status,
    headers: { ...exchange.headers, ...error.headers, 'Content-Type': json },
    body: JSON.stringify(errorBody(error, exchange.requestId)),
  };
}
