import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { DAY_MS } from '../clock.ts';
import type { Json, JsonObject } from '../json.ts';
import { type CallToolResult, readCallResult } from './call-result.ts';
import { invalid, McpFailure } from './failure.ts';
import { failureOf } from './sdk-failure.ts';
import { type Cursor, type ToolList, ToolListReader } from './tool-list.ts';
import type { Wire } from './wire.ts';

/** The maximum number of tools of a server: people cannot choose among more. */
const MAX_TOOLS = 1_000;
const MAX_PAGES = 100;
const MAX_LIST_BYTES = 4 * 1024 * 1024;
/** The time limit for notifying a server that a call is cancelled or a session over. */
const FAREWELL_MS = 2_000;

/** A schema for results that accepts anything that the server sent. */
const AnyResult = z.object({ value: z.custom<Json>() });

export type McpServerInfo = { name: string; version: string; protocolVersion: string; instructions?: string };

/** A message from the server about a call in flight. */
export type McpProgress = { progress: number; total?: number | undefined; message?: string | undefined };

export type McpCall = {
  name: string;
  args: JsonObject;
  /** Sent as `_meta`; its `traceparent` also in the header of that name. */
  meta?: JsonObject;
  signal?: AbortSignal;
  onProgress?: (progress: McpProgress) => void;
  /** The time without a message from the server, in ms; progress restarts it. */
  timeoutMs: number;
  /** The time limit of the call in ms, even with progress; default a day. */
  maxTotalMs?: number;
};

/** An open session with an MCP server. Calls may run at the same time. */
export type McpSession = {
  readonly serverInfo: McpServerInfo;
  readonly transport: 'streamable_http' | 'sse';
  /** False once the session cannot be used any more; then close it. */
  readonly usable: boolean;
  /** Returns the usable tools of all pages, at most 1,000 and 4 MiB. Rejects with McpFailure. */
  listTools(signal?: AbortSignal): Promise<ToolList>;
  /**
   * Calls a tool once. After an abort or a timeout it rejects once the server has been
   * notified. Rejects with McpFailure.
   */
  callTool(call: McpCall): Promise<CallToolResult>;
  /**
   * Aborts calls in flight, closes every stream and, as a best effort, ends the session at the
   * server (DELETE). Never rejects.
   */
  close(): Promise<void>;
};

export function createSession(
  client: Client,
  wire: Wire,
  transport: McpSession['transport'],
  timeoutMs: number,
): McpSession {
  const { name = 'unknown', version = '' } = client.getServerVersion() ?? {};
  const instructions = client.getInstructions();
  let closed: Promise<void> | undefined;
  return {
    serverInfo: {
      name,
      version,
      protocolVersion: wire.protocolVersion ?? '',
      ...(instructions === undefined ? {} : { instructions }),
    },
    transport,
    get usable() {
      return closed === undefined && wire.ended === undefined;
    },
    listTools: signal => listTools(client, wire, timeoutMs, signal),
    callTool: call => callTool(client, wire, call),
    close() {
      closed ??= closeSession(client, wire);
      return closed;
    },
  };
}

/** Ends a session, even a partly opened one. Never rejects. */
export async function closeSession(client: Client, wire: Wire): Promise<void> {
  await within(FAREWELL_MS, wire.cancellationsSent());
  await client.close().catch(() => undefined);
  await wire.close(FAREWELL_MS);
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work.catch(() => undefined), promise]);
  clearTimeout(timer);
}

/**
 * Runs a request under its own signal: the SDK keeps listening to the signal that it is given, and would
 * cancel a finished request.
 */
async function request<T>(
  wire: Wire,
  limits: { signal?: AbortSignal | undefined; maxTotalMs: number },
  send: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limits.signal?.aborted) throw new McpFailure('mcp_cancelled', 'The call was cancelled', false, { unsent: true });
  if (wire.ended) throw wire.ended;
  const abort = new AbortController();
  const cancel = (): void => abort.abort('cancelled');
  limits.signal?.addEventListener('abort', cancel, { once: true });
  const timer = setTimeout(() => abort.abort(`more than ${limits.maxTotalMs} ms in all`), limits.maxTotalMs);
  try {
    return await send(abort.signal);
  } catch (error) {
    const failure = limits.signal?.aborted
      ? new McpFailure('mcp_cancelled', 'The call was cancelled', false)
      : failureOf(error);
    if (failure.code === 'mcp_cancelled' || failure.code === 'mcp_timeout') {
      await within(FAREWELL_MS, wire.cancellationsSent());
    }
    throw failure;
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener('abort', cancel);
  }
}

async function callTool(client: Client, wire: Wire, call: McpCall): Promise<CallToolResult> {
  const { onProgress, timeoutMs, maxTotalMs = DAY_MS } = call;
  const params = { name: call.name, arguments: call.args, ...(call.meta ? { _meta: call.meta } : {}) };
  const { value } = await request(wire, { signal: call.signal, maxTotalMs }, signal =>
    // Not client.callTool: it compiles the server's output schemas into code.
    client.request({ method: 'tools/call', params }, AnyResult, {
      signal,
      timeout: timeoutMs,
      resetTimeoutOnProgress: true,
      ...(onProgress ? { onprogress: onProgress } : {}),
    }),
  );
  return readCallResult(value);
}

/** Codes with which a server that has no tools answers a request for them. */
const NO_SUCH_LIST = new Set([
  'mcp_error',
  'mcp_invalid_params',
  'mcp_internal_error',
  'mcp_invalid_response',
  'mcp_http_error',
]);

async function listTools(client: Client, wire: Wire, timeoutMs: number, signal?: AbortSignal): Promise<ToolList> {
  const deadline = { signal, maxTotalMs: 2 * timeoutMs };
  const requestPage = (cursor: Cursor | undefined, inTime: AbortSignal) => {
    // Unchanged, although the SDK's type requires text: some servers number their pages.
    const params = cursor === undefined ? {} : { cursor: cursor as string };
    return client.request({ method: 'tools/list', params }, AnyResult, { signal: inTime, timeout: timeoutMs });
  };
  const reading = new ToolListReader();
  try {
    return await request(wire, deadline, inTime => readPages(reading, cursor => requestPage(cursor, inTime)));
  } catch (error) {
    // Some servers have tools without declaring them. Servers without tools refuse the request.
    const declared = client.getServerCapabilities()?.tools !== undefined;
    if (declared || !(error instanceof McpFailure) || !NO_SUCH_LIST.has(error.code)) throw error;
    return { tools: [], warnings: [] };
  }
}

async function readPages(
  reading: ToolListReader,
  requestPage: (cursor: Cursor | undefined) => Promise<{ value: Json }>,
): Promise<ToolList> {
  let cursor: Cursor | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { value } = await requestPage(cursor);
    const next = reading.take(value);
    if (next === null) {
      if (page === 0) throw invalid('holds no list of tools');
      reading.warn('The list of tools was not read further: a page of it holds no list.');
    }
    if (reading.size > MAX_TOOLS || reading.length > MAX_LIST_BYTES) break;
    if (next === null || next === undefined) return reading.list;
    cursor = next;
  }
  const limits = `${MAX_TOOLS} tools, ${MAX_PAGES} pages or ${MAX_LIST_BYTES} bytes`;
  throw new McpFailure('mcp_too_many_tools', `The MCP server lists more than ${limits}`, false);
}
