import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import { type Clock, systemClock } from '../clock.ts';
import { McpFailure, unsent } from './failure.ts';
import { failureOf } from './sdk-failure.ts';
import { closeSession, createSession, type McpSession } from './session.ts';
import { Wire } from './wire.ts';

export type ConnectOptions = {
  /** The server's MCP endpoint or, for servers from before 2025, their SSE address. */
  url: string;
  /** Credentials, sent with every request. The protocol's own headers replace them. */
  headers: Record<string, string>;
  /** Every request uses it; pass the egress guard's. */
  fetch: typeof fetch;
  /** For the dates of `Retry-After`; default: the system's clock. */
  clock?: Clock;
  /** The time limit of connecting, and of each later answer to a list, in ms. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** The maximum size of one answer in bytes; default 4 MiB. */
  maxResponseBytes?: number;
};

const DEFAULT_RESPONSE_BYTES = 4 * 1024 * 1024;

/**
 * The statuses with which a server of the older transport answers a POST of `initialize` (MCP 2025-11-25, Transports, Backwards
 * Compatibility).
 */
const OLDER_SERVER = new Set([400, 404, 405]);

/** Broken streams are resumed within about ten seconds, or the call fails. */
const reconnectionOptions = {
  initialReconnectionDelay: 250,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};

/**
 * Opens a session with an MCP server: Streamable HTTP, or SSE if the server answers `initialize` like one of the older
 * transport. All requests of the server are refused: the client has no sampling, elicitation or roots. Rejects with
 * McpFailure, leaving nothing open.
 */
export async function connectMcp(options: ConnectOptions): Promise<McpSession> {
  const url = new URL(options.url);
  try {
    return await attempt('streamable_http', url, options);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.status === undefined || !OLDER_SERVER.has(failure.status)) throw unsent(failure);
    return await attempt('sse', url, options).catch((second: unknown) => {
      throw unsent(neither(failure, failureOf(second)));
    });
  }
}

/**
 * Returns the failure for a server that speaks neither transport. It contains the answer to the newer transport, because the
 * server's owner can act on that.
 */
function neither(first: McpFailure, second: McpFailure): McpFailure {
  if (second.code === 'mcp_unauthorized' || second.code === 'mcp_cancelled' || second.retryable) return second;
  const message = `${first.message}; it offers no event stream either: ${second.message}`;
  return new McpFailure('mcp_not_a_server', message, false, { status: first.status ?? 0 });
}

async function attempt(kind: McpSession['transport'], url: URL, options: ConnectOptions): Promise<McpSession> {
  const { headers, fetch, clock = systemClock, timeoutMs, maxResponseBytes = DEFAULT_RESPONSE_BYTES } = options;
  const wire = new Wire(kind, { url, headers, fetch, clock, maxBytes: maxResponseBytes });
  const transport: Transport =
    kind === 'sse'
      ? new SSEClientTransport(url, { fetch: wire.fetch })
      : new StreamableHTTPClientTransport(url, { fetch: wire.fetch, reconnectionOptions });
  const client = new Client(
    { name: 'baton', title: 'Baton', version: '1' },
    { capabilities: {}, jsonSchemaValidator: new CfWorkerJsonSchemaValidator() },
  );
  try {
    const connecting = client.connect(transport, { timeout: timeoutMs });
    wire.watch(transport);
    await connectWithin(connecting, wire, options);
    return createSession(client, wire, kind, timeoutMs);
  } catch (error) {
    // An EventSource only reports that something went wrong.
    const failure =
      kind === 'sse' && !(error instanceof McpFailure) ? (wire.lastFailure ?? failureOf(error)) : failureOf(error);
    await transport.close();
    await closeSession(client, wire);
    throw failure;
  }
}

/** The SDK waits forever for the first event of an SSE server, and ignores signals while it opens a transport. */
async function connectWithin(
  connecting: Promise<void>,
  wire: Wire,
  { timeoutMs, signal }: ConnectOptions,
): Promise<void> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const late = new McpFailure('mcp_timeout', `The MCP server did not answer within ${timeoutMs} ms`, true);
  const timer = setTimeout(() => reject(late), timeoutMs);
  const cancel = (): void => reject(new McpFailure('mcp_cancelled', 'Connecting was cancelled', false));
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    await Promise.race([connecting, over]);
    if (wire.ended) throw wire.ended;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
    connecting.catch(() => undefined);
  }
}
