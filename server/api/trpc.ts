import { initTRPC, type TRPCError, type TRPCMutationProcedure, type TRPCQueryProcedure } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { z } from 'zod';
import type { Principal } from '../operation/context.ts';
import type { AnyOperation, RawBody } from '../operation/operation.ts';
import { PLAIN_JSON } from '../operation/trpc-transformer.ts';
import { AppError, type ErrorDetail } from '../platform/errors.ts';
import type { Json } from '../platform/json.ts';
import { markNumbers, refuseNumber, reviveNumbers } from '../platform/json-text.ts';
import { LINEAGE_HEADER } from '../platform/lineage.ts';
import { type Authenticator, authenticate, readCredential, servedOverHttps } from './authenticate.ts';
import { asAppError, errorBody, logFailure } from './failure.ts';
import type { Forward } from './forward/forward.ts';
import { checkedNumbers, parseObject } from './input.ts';
import { type Invoker, invoke } from './invoke.ts';
import type { operations } from './operations.ts';
import { type Counted, rateHeaders, rateLimited, takeRequest } from './rate.ts';
import type { RegisteredOperation, Registry } from './registry.ts';
import { type ApiRequest, type ApiResponse, MAX_BODY_BYTES, protectiveHeaders, requestIdOf } from './request.ts';
import { refuseCrossSite } from './same-origin.ts';

type TrpcContext = {
  requestId: string;
  header: (name: string) => string | undefined;
  /** Resolved once for all calls of a batch. */
  principal: () => Promise<Principal | null>;
  /** Whether the credential is a cookie: a mutation must then come from our own pages. */
  cookie: boolean;
  /** The client, for the limits. */
  client: Counted;
  /**
   * Whether this is a single call, whose own headers are read and sent; in a batch they would
   * belong to no particular call.
   */
  single: boolean;
  responseHeaders: Headers;
  /** Whether the inputs have marked numbers, which tRPC's own parser would have rounded. */
  marked: boolean;
};

/** The fields of `error.data` on the client, in addition to tRPC's own `code` and `path`. */
export type TrpcErrorData = {
  /** The stable snake_case code of the API's errors. */
  code: string;
  httpStatus: number;
  status: number;
  path?: string;
  details?: ErrorDetail[];
  request_id: string;
};

const t = initTRPC.context<TrpcContext>().create({
  isDev: false, // stack traces stay on the server
  transformer: PLAIN_JSON,
  errorFormatter({ shape, error, ctx, path }) {
    const known = knownFailure(error);
    const body = errorBody(known, ctx?.requestId ?? '');
    const data: TrpcErrorData = {
      code: body.code,
      httpStatus: known.status,
      status: known.status,
      ...(path === undefined ? {} : { path }),
      ...(body.details ? { details: body.details } : {}),
      request_id: body.request_id,
    };
    return { ...shape, message: body.error, data };
  },
});

type ProcedureOf<O extends AnyOperation> = O['method'] extends 'GET'
  ? TRPCQueryProcedure<{ input: InputOf<O>; output: z.output<O['output']>; meta: unknown }>
  : TRPCMutationProcedure<{ input: InputOf<O>; output: z.output<O['output']>; meta: unknown }>;
/** `undefined`: an input with only optional fields may be left out. */
type InputOf<O extends AnyOperation> =
  Record<never, never> extends z.input<O['input']> ? z.input<O['input']> | undefined : z.input<O['input']>;
/** Operations with a raw body, and streams, exist only in REST. */
type Procedures<Ops extends readonly AnyOperation[]> = {
  [O in Ops[number] as O extends { raw: RawBody } | { produces: 'text/event-stream' }
    ? never
    : O['name']]: ProcedureOf<O>;
};

/** The console's contract: one procedure per operation, named after it; GET is a query, the others are mutations. */
export type AppRouter = ReturnType<typeof t.router<Procedures<typeof operations>>>;

/** The inputs, by operation. */
export type AppInputs = { [O in (typeof operations)[number] as O['name']]: z.input<O['input']> };

export type TrpcOptions = Invoker &
  Authenticator & {
    registry: Registry;
    /** Absent outside of a cluster. */
    forward?: Forward | undefined;
  };
/** Serves a request. Never rejects, like the REST surface. */
export type Trpc = (request: ApiRequest) => Promise<ApiResponse>;

/** The maximum number of calls in one HTTP request; a page of the console makes about ten. */
const MAX_BATCH_SIZE = 50;
const endpoint = '/api/trpc';
/** Decodes like Request.json(). */
const utf8 = new TextDecoder();

/** Returns whether the tRPC surface answers this target. */
export function isTrpcPath(url: string | undefined): boolean {
  return url?.startsWith(`${endpoint}/`) === true;
}

/**
 * Creates the tRPC surface at `/api/trpc`, derived from the registry and invoked like every other
 * (docs/adr/0001-operations-declared-once.md). `If-Match` and `Idempotency-Key` are only respected in calls that are not batched
 * (`httpLink`), since in a batch they would apply to all calls; `ETag` is also sent only in such calls. A batch counts each of
 * its calls against the rate limit.
 */
export function createTrpc(options: TrpcOptions): Trpc {
  const router = createAppRouter(options);
  return async request => {
    const exchange = createExchange(options, request);
    const { requestId, responseHeaders } = exchange;
    try {
      const forwarded = await forwardCalls(options, exchange, request);
      if (forwarded !== null) return forwarded;
      const response = await respond(options, router, exchange, request);
      const principal = request.method === 'GET' && exchange.needsLeader ? await exchange.caller() : null;
      const read = principal && options.forward ? await handOver(options.forward, exchange, request, principal) : null;
      if (read !== null) return read;
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
    } catch (thrown) {
      const error = asAppError(thrown);
      logFailure(options.services.logger, error, { requestId });
      const headers = { ...Object.fromEntries(responseHeaders), ...error.headers, 'Content-Type': 'application/json' };
      return { status: error.status, headers, body: JSON.stringify(errorBody(error, requestId)) };
    }
  };
}

async function respond(
  options: TrpcOptions,
  router: AppRouter,
  exchange: Exchange,
  request: ApiRequest,
): Promise<Response> {
  const { requestId, responseHeaders } = exchange;
  const { call, marked } = await toCall(request);
  return fetchRequestHandler({
    endpoint,
    req: call,
    router,
    maxBatchSize: MAX_BATCH_SIZE,
    createContext: ({ info }) => ({ ...createContext(options, request, exchange, !info.isBatchCall), marked }),
    responseMeta: () => ({ headers: responseHeaders }),
    onError({ error, path, ctx }) {
      const failure = knownFailure(error);
      if (failure.code === 'not_leading') exchange.needsLeader = true;
      logFailure(options.services.logger, failure, { requestId, operation: path });
      const retryAfter = failure.headers?.['Retry-After'];
      if (ctx?.single && retryAfter !== undefined) responseHeaders.set('Retry-After', retryAfter);
    },
  });
}

/**
 * Returns the answer of the node that leads the caller's workspace; null if the calls are to be handled here: queries, public
 * calls, and those of a caller who is unknown or over a limit. Counts the calls, unless it returns null before that.
 */
async function forwardCalls(
  { forward, registry, services }: TrpcOptions,
  exchange: Exchange,
  request: ApiRequest,
): Promise<ApiResponse | null> {
  if (forward === undefined || request.method !== 'POST') return null;
  const entries = calledIn(registry, request.pathname);
  const isForOwner = ({ operation }: RegisteredOperation) =>
    operation.access !== 'public' && operation.method !== 'GET';
  // If the credential is refused, each call says so.
  const principal = entries.some(isForOwner) ? await exchange.caller().catch(() => null) : null;
  if (principal === null || forward.isHere(request, principal.tenantId)) return null;
  const { client } = exchange;
  const counted: Counted = { ...client };
  for (const { operation } of entries) {
    const state = await takeRequest(services.rateLimiter, operation.access === 'public' ? null : principal, counted);
    for (const [name, value] of Object.entries(rateHeaders(state))) exchange.responseHeaders.set(name, value);
    // Some of the calls may be within the limit; each then gets its own answer here.
    if (!state.allowed) return null;
  }
  client.forwarded = true;
  return handOver(forward, exchange, request, principal);
}

/** Returns the answer of the node that leads the workspace, or that it could not be had; null if this node leads it. */
async function handOver(
  forward: Forward,
  { requestId, responseHeaders }: Exchange,
  request: ApiRequest,
  { tenantId }: Principal,
): Promise<ApiResponse | null> {
  try {
    const answer = await forward.toOwner(request, tenantId, { limit: MAX_BODY_BYTES, requestId });
    return answer && { ...answer, headers: { ...Object.fromEntries(responseHeaders), ...answer.headers } };
  } catch (thrown) {
    const { status, headers, message } = asAppError(thrown);
    const { code } = errorBody(asAppError(thrown), requestId);
    const data: TrpcErrorData = { code, httpStatus: status, status, request_id: requestId };
    const failed = { error: { message, code: -32_603, data } };
    const isBatch = new URLSearchParams(request.search).has('batch');
    return {
      status,
      headers: { ...Object.fromEntries(responseHeaders), ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(isBatch ? request.pathname.split(',').map(() => failed) : failed),
    };
  }
}

/** Returns the operations that a request calls; those that are unknown are left out. */
function calledIn({ byName }: Registry, pathname: string): RegisteredOperation[] {
  const names = pathname.slice(endpoint.length + 1).split(',', MAX_BATCH_SIZE + 1);
  return names.flatMap(name => byName.get(name) ?? []);
}

/**
 * Converts the request for tRPC, with only the header that selects its format; credentials and the rest are read from
 * the API's own request. Throws AppError 413 for a body beyond the limit, 400 for one that ends early.
 */
async function toCall(request: ApiRequest): Promise<{ call: Request; marked: boolean }> {
  const { method, pathname, header } = request;
  const type = header('content-type');
  const body = method === 'POST' ? utf8.decode(await request.body(MAX_BODY_BYTES)) : undefined;
  const search = markedSearch(request.search);
  const markedBody = body === undefined ? undefined : markNumbers(body);
  const call = new Request(`http://localhost${pathname}${search}`, {
    method,
    headers: type === undefined ? {} : { 'content-type': type },
    ...(markedBody === undefined ? {} : { body: markedBody }),
  });
  return { call, marked: search !== request.search || markedBody !== body };
}

/** Returns the query string with the numbers of its JSON marked. */
function markedSearch(search: string): string {
  const parameters = new URLSearchParams(search);
  const input = parameters.get('input');
  const marked = input === null ? null : markNumbers(input);
  if (marked === null || marked === input) return search;
  parameters.set('input', marked);
  return `?${parameters}`;
}

/** Returns the input with exact numbers. Throws AppError 422 for a number that would be rounded. */
function exactInput(input: unknown, { marked }: TrpcContext): unknown {
  return marked ? checkedNumbers(() => reviveNumbers(input as Json, refuseNumber)) : input;
}

/** The facts about one HTTP request, which all of its calls share. */
type Exchange = Pick<TrpcContext, 'requestId' | 'client' | 'responseHeaders'> & {
  caller: TrpcContext['principal'];
  /** Whether a call could not be answered, because this node does not lead the caller's workspace. */
  needsLeader: boolean;
};

function createExchange(options: TrpcOptions, request: ApiRequest): Exchange {
  const { header, address, forwarded = false } = request;
  const requestId = requestIdOf(header);
  let principal: Promise<Principal | null> | undefined;
  return {
    requestId,
    responseHeaders: new Headers({ ...protectiveHeaders, 'X-Request-Id': requestId }),
    client: { address, forwarded },
    needsLeader: false,
    caller: () => {
      principal ??= authenticate(options, readCredential(header, servedOverHttps(options.services.config)), header);
      return principal;
    },
  };
}

function createContext(
  options: TrpcOptions,
  { header }: ApiRequest,
  { requestId, caller, client, responseHeaders }: Exchange,
  single: boolean,
): Omit<TrpcContext, 'marked'> {
  const isSession = readCredential(header, servedOverHttps(options.services.config)).kind === 'session';
  return { requestId, header, cookie: isSession, principal: caller, client, single, responseHeaders };
}

/**
 * Creates the router at run time: a record as described by `Procedures`, which the compiler cannot infer from a loop.
 */
function createAppRouter(options: TrpcOptions): AppRouter {
  const record: Record<string, ReturnType<typeof procedure>> = {};
  for (const entry of options.registry.operations) {
    const { name, raw, produces } = entry.operation;
    if (!raw && produces !== 'text/event-stream') record[name] = procedure(options, entry);
  }
  // The registry has each operation once; its types, by name, are computed from the same list.
  return t.router(record) as unknown as AppRouter;
}

function procedure(options: TrpcOptions, entry: RegisteredOperation) {
  const { operation } = entry;
  const isQuery = operation.method === 'GET';
  const resolve = async ({ ctx, input }: { ctx: TrpcContext; input: unknown }): Promise<unknown> => {
    const principal = operation.access === 'public' ? null : await ctx.principal();
    const state = await takeRequest(options.services.rateLimiter, principal, ctx.client);
    for (const [name, value] of Object.entries(rateHeaders(state))) ctx.responseHeaders.set(name, value);
    if (!state.allowed) throw rateLimited(state);
    if (principal && ctx.cookie && !isQuery) refuseCrossSite(ctx.header, options.services.config.http.url);
    const { output, headers } = await invoke(options, {
      entry,
      principal,
      requestId: ctx.requestId,
      surface: 'trpc',
      clientAddress: ctx.client.address,
      lineage: ctx.header(LINEAGE_HEADER),
      header: ctx.single ? ctx.header : () => undefined,
      input: () => parseObject(entry, exactInput(input, ctx)),
    });
    if (ctx.single) for (const [name, value] of headers) ctx.responseHeaders.set(name, value);
    return output;
  };
  // The raw input is passed through: `invoke` parses it after it has checked the caller.
  const base = t.procedure.input((raw: unknown): unknown => raw);
  return isQuery ? base.query(resolve) : base.mutation(resolve);
}

/** Returns the error that an operation threw, which tRPC wraps as an internal error, or a failure of tRPC's own. */
function knownFailure(error: TRPCError): AppError {
  return error.code === 'INTERNAL_SERVER_ERROR' ? asAppError(error.cause ?? error) : trpcFailure(error);
}

/** Converts failures of tRPC's own: a body that is not JSON, an unknown procedure, a query sent as a mutation. */
function trpcFailure(error: TRPCError): AppError {
  switch (error.code) {
    case 'PARSE_ERROR':
    case 'BAD_REQUEST':
      return new AppError(400, 'malformed_body', 'The request body is not a valid tRPC call.');
    case 'NOT_FOUND':
      return new AppError(404, 'not_found', 'Procedure not found.');
    case 'METHOD_NOT_SUPPORTED':
      return new AppError(405, 'method_not_allowed', 'Queries use GET, mutations use POST.');
    case 'UNSUPPORTED_MEDIA_TYPE':
      return new AppError(415, 'unsupported_media_type', 'The request body must be sent as application/json.');
    default:
      return new AppError(500, 'internal_error', 'The server failed to answer.', { cause: error });
  }
}
