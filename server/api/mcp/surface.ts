import { TENANT_HEADER } from '../../operation/request-headers.ts';
import { AppError, badRequest, forbidden, invalid, unauthenticated } from '../../platform/errors.ts';
import { LINEAGE_HEADER } from '../../platform/lineage.ts';
import { type Authenticator, authenticate, readCredential, servedOverHttps } from '../authenticate.ts';
import { asAppError, errorBody, logFailure } from '../failure.ts';
import type { Forward } from '../forward/forward.ts';
import { readJson, requireJson } from '../input.ts';
import type { Metrics } from '../metrics.ts';
import { rateHeaders, rateLimited, takeRequest } from '../rate.ts';
import { type ApiRequest, type ApiResponse, MAX_BODY_BYTES, protectiveHeaders, requestIdOf } from '../request.ts';
import { answerTypeFor } from './accept.ts';
import { catalogTool } from './catalog-tool.ts';
import { describeTool } from './describe-tool.ts';
import { healthTool } from './health-tool.ts';
import { operationTools } from './operation-tools.ts';
import type { McpCaller, McpOptions, PlatformTool, ToolSet } from './platform-tool.ts';
import { streamTool } from './stream-tool.ts';

export type McpSurfaceOptions = McpOptions &
  Authenticator & {
    metrics: Pick<Metrics, 'request'>;
    /** Absent outside of a cluster. */
    forward?: Forward | undefined;
  };
/** Serves a request. Never rejects, like the other surfaces. */
export type McpSurface = (request: ApiRequest) => Promise<ApiResponse>;

const path = '/mcp';
const PROTOCOL_VERSION = 'mcp-protocol-version';

/** Returns whether the Platform MCP endpoint answers this target. */
export function isMcpPath(url: string | undefined): boolean {
  return /^\/mcp\/?(?=\?|$)/.test(url ?? '');
}

/**
 * The Platform MCP endpoint (docs/specification/mcp.md#platform-mcp-endpoint): Streamable HTTP, stateless, with one
 * POST and one JSON answer per message. Only a token is accepted, never a cookie, so that no page of another site can
 * use a browser's session. The Host and Origin must be ours, so that no such page can reach a local server through a
 * own name (DNS rebinding).
 */
export function createMcp(options: McpSurfaceOptions): McpSurface {
  // Made by the first message: describing their arguments takes 20 ms of CPU.
  let made: ToolSet | undefined;
  const tools = () => {
    made ??= toolSet(options);
    return made;
  };
  return async request => {
    const began = performance.now();
    const requestId = requestIdOf(request.header);
    const headers: Record<string, string> = { ...protectiveHeaders, 'X-Request-Id': requestId };
    const response = await respond(options, tools, request, { requestId, headers }).catch(thrown => {
      const error = asAppError(thrown);
      logFailure(options.services.logger, error, { requestId, operation: 'mcp' });
      return {
        status: error.status,
        headers: { ...headers, ...error.headers, 'Content-Type': 'application/json; charset=utf-8' },
        body: JSON.stringify(errorBody(error, requestId)),
      };
    });
    options.metrics.request('mcp', response.status, performance.now() - began);
    return request.method === 'HEAD' ? { ...response, body: null } : response;
  };
}

/** Returns the tools that this deployment has enabled (docs/mcp.md). Throws if two have the same name. */
export function toolSet(options: McpOptions): ToolSet {
  const { groups, risk } = options.services.config.mcp;
  const all: PlatformTool[] = [
    healthTool(options),
    ...operationTools(options),
    catalogTool(options, { groups, risk }),
    streamTool(options),
  ];
  const enabled = all.filter(tool => groups.includes(tool.group) && (risk || !tool.risk));
  const listed: PlatformTool[] = [describeTool(options, () => set), ...enabled];
  const set: ToolSet = new Map(listed.map(tool => [tool.definition.name, tool]));
  if (set.size !== listed.length) throw new Error('Two tools of the Platform MCP endpoint have one name.');
  return set;
}

async function respond(
  options: McpSurfaceOptions,
  tools: () => ToolSet,
  request: ApiRequest,
  { requestId, headers }: { requestId: string; headers: Record<string, string> },
): Promise<ApiResponse> {
  refuseForeignHost(options, request);
  if (request.method !== 'POST') {
    throw new AppError(
      405,
      'method_not_allowed',
      'The MCP endpoint accepts only POST: it is stateless and sends no event stream.',
      {
        headers: { Allow: 'POST' },
      },
    );
  }
  const caller = await admit(options, request, requestId, headers);
  const type = answerTypeFor(request.header('accept'));
  if (type === null) {
    throw new AppError(
      406,
      'not_acceptable',
      'The MCP endpoint answers with application/json or text/event-stream, and the Accept header allows neither.',
    );
  }
  const { tenantId } = caller.principal;
  const answer = await options.forward?.toOwner(request, tenantId, { limit: MAX_BODY_BYTES, requestId });
  if (answer) return { ...answer, headers: { ...headers, ...answer.headers } };
  const value = readValue(request.header('content-type'), await request.body(MAX_BODY_BYTES));
  // The SDK is 200 modules, 70 ms of every start; the first message loads it.
  const { answerMessage } = await import('./server.ts');
  const { status, body } = await answerMessage(options, tools(), caller, { request: asFetchRequest(request), value });
  if (body === '') return { status, headers, body: null };
  return status === 200 && type === 'text/event-stream'
    ? { status, headers: { ...headers, 'Content-Type': type }, body: `event: message\ndata: ${body}\n\n` }
    : { status, headers: { ...headers, 'Content-Type': 'application/json' }, body };
}

/** Authenticates the request. Answers 401 without a valid token, 400 with X-Tenant-Id, 429 over the limit. */
async function admit(
  options: McpSurfaceOptions,
  request: ApiRequest,
  requestId: string,
  headers: Record<string, string>,
): Promise<McpCaller> {
  if (request.header(TENANT_HEADER) !== undefined) {
    throw badRequest(
      'X-Tenant-Id must not be set here: the token determines the workspace.',
      'tenant_header_not_allowed',
    );
  }
  const credential = readCredential(request.header, servedOverHttps(options.services.config));
  const principal = credential.kind === 'pat' ? await authenticate(options, credential, request.header) : null;
  const state = await takeRequest(options.services.rateLimiter, principal, request);
  Object.assign(headers, rateHeaders(state));
  if (!state.allowed) throw rateLimited(state);
  if (!principal) throw unauthenticated('The MCP endpoint needs a personal access token: Authorization: Bearer pat_….');
  const { address, onDisconnect } = request;
  const lineage = request.header(LINEAGE_HEADER);
  return { principal, requestId, address, lineage, ...(onDisconnect !== undefined && { onDisconnect }) };
}

function refuseForeignHost({ services }: McpSurfaceOptions, { header }: ApiRequest): void {
  const { hosts, origins } = services.config.mcp;
  const host = hostnameOf(`http://${header('host') ?? ''}`);
  if (host === null || !hosts.includes(host))
    throw forbidden('The Host header does not name this service.', 'foreign_host');
  const origin = header('origin');
  if (origin === undefined || origins.includes(origin)) return;
  const name = hostnameOf(origin);
  if (name === null || !hosts.includes(name))
    throw forbidden('The request did not come from an allowed origin.', 'foreign_origin');
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

function readValue(contentType: string | undefined, bytes: Uint8Array): unknown {
  requireJson(contentType);
  const value = readJson(bytes);
  // MCP has had no batches since 2025-06-18; accepting one would count many calls as one request.
  if (Array.isArray(value))
    throw invalid('Send one message per request: batches are not accepted.', undefined, 'batch_not_supported');
  return value;
}

/**
 * Returns the request for the transport, which reads only the method and these headers. The body and `Accept` have already been
 * read.
 */
function asFetchRequest({ header }: ApiRequest): Request {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  });
  const versions = new Set((header(PROTOCOL_VERSION) ?? '').split(',').map(version => version.trim()));
  // Proxies and client libraries send headers twice, or empty.
  const version = [...versions].filter(each => each !== '').join(', ');
  if (version !== '') headers.set(PROTOCOL_VERSION, version);
  return new Request(`http://localhost${path}`, { method: 'POST', headers });
}
