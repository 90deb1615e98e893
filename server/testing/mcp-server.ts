import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { newId } from '../platform/ids.ts';
import { freePort } from '../platform/postgres/free-port.ts';

/** A request as a test server saw it. */
export type Seen = {
  method: string;
  headers: IncomingMessage['headers'];
  message: string | undefined;
  params: unknown;
};

/** A real HTTP server on a free port of 127.0.0.1 that records its requests and its open connections. */
export type TestServer = AsyncDisposable & {
  url: string;
  readonly seen: readonly Seen[];
  /** JSON-RPC methods in the order in which they arrived; `DELETE` for the end of a session. */
  messages(): string[];
  /** The number of open connections. */
  sockets(): number;
  /**
   * Resolves once `condition` is true; it is checked after every request and whenever a connection or response ends.
   */
  until(condition: () => boolean): Promise<void>;
  /** Ends all connections, like a server that crashes. */
  dropConnections(): void;
};

export type Handler = (
  request: IncomingMessage & { body?: unknown },
  response: ServerResponse,
  body: unknown,
) => void | Promise<void>;

async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Serves `handler`, on the path `/mcp` by convention. */
export async function startHttpServer(handler: Handler): Promise<TestServer> {
  const seen: Seen[] = [];
  const waiting = new Set<() => void>();
  const notifyWaiters = (): void => {
    for (const one of [...waiting]) one();
  };
  const listener: RequestListener = async (request, response) => {
    const body = await readJson(request).catch(() => undefined);
    const message = field(body, 'method');
    seen.push({
      method: request.method ?? '',
      headers: request.headers,
      message: typeof message === 'string' ? message : undefined,
      params: field(body, 'params'),
    });
    response.once('close', notifyWaiters);
    notifyWaiters();
    await handler(request, response, body);
  };
  const server = createServer((request, response) => void listener(request, response));
  let open = 0;
  server.on('connection', socket => {
    open++;
    socket.on('error', () => undefined);
    socket.once('close', () => {
      open--;
      notifyWaiters();
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    messages: () => seen.flatMap(one => one.message ?? (one.method === 'DELETE' ? ['DELETE'] : [])),
    sockets: () => open,
    until: condition =>
      new Promise(resolve => {
        const check = (): void => {
          if (!condition()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    dropConnections: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Stores the messages that were sent, so that a stream can be resumed. */
function eventStore(): EventStore {
  const events: { id: string; streamId: string; message: Parameters<EventStore['storeEvent']>[1] }[] = [];
  return {
    async storeEvent(streamId, message) {
      const id = String(events.length + 1);
      events.push({ id, streamId, message });
      return id;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const from = events.findIndex(event => event.id === lastEventId);
      const streamId = events[from]?.streamId ?? '';
      for (const event of events.slice(from + 1)) {
        if (event.streamId === streamId && Object.keys(event.message).length > 0) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}

export type SdkServerOptions = {
  /** Registers the tools; called once per session. */
  configure: (server: McpServer) => void;
  /** Answers in JSON instead of an event stream. */
  json?: boolean;
  /** Whether broken streams can be resumed. */
  resumable?: boolean;
  /** Called before the SDK sees a request; returns true if it has answered. */
  before?: (request: IncomingMessage, response: ServerResponse, body: unknown) => boolean;
};

/** The SDK's server over Streamable HTTP, with sessions. */
export async function startSdkServer(
  options: SdkServerOptions,
): Promise<TestServer & { sessions: Map<string, unknown> }> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = await startHttpServer(async (request, response, body) => {
    if (options.before?.(request, response, body)) return;
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }));
      return;
    }
    await (known ?? (await openSession(options, sessions))).handleRequest(request, response, body);
  });
  return Object.assign(server, { sessions });
}

async function openSession(
  { configure, json = false, resumable = false }: SdkServerOptions,
  sessions: Map<string, StreamableHTTPServerTransport>,
): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: newId,
    enableJsonResponse: json,
    ...(resumable ? { eventStore: eventStore(), retryInterval: 10 } : {}),
    onsessioninitialized: id => void sessions.set(id, transport),
    onsessionclosed: id => void sessions.delete(id),
  });
  const server = new McpServer({ name: 'test', version: '1.2.3' }, { instructions: 'Use with care.' });
  configure(server);
  await server.connect(transport);
  return transport;
}

/**
 * The SDK's server with the transport of 2024: GET /sse, POST /message. A POST to the SSE address is answered
 * with 404, or the given status.
 */
export async function startSseServer(
  configure: (server: McpServer) => void,
  refusal: 400 | 404 | 405 = 404,
): Promise<TestServer> {
  const sessions = new Map<string, SSEServerTransport>();
  return await startHttpServer(async (request, response, body) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const known = sessions.get(searchParams.get('sessionId') ?? '');
    if (request.method === 'GET' && pathname === '/mcp') {
      const transport = new SSEServerTransport('/message', response);
      const server = new McpServer({ name: 'older', version: '0.9' });
      configure(server);
      sessions.set(transport.sessionId, transport);
      await server.connect(transport);
    } else if (request.method === 'POST' && pathname === '/message' && known) {
      await known.handlePostMessage(request, response, body);
    } else {
      response.writeHead(refusal).end();
    }
  });
}

/** Starts the reference server "everything" in a separate process. */
export async function startEverything(mode: 'streamableHttp' | 'sse'): Promise<AsyncDisposable & { url: string }> {
  const port = await freePort();
  const program = new URL('dist/index.js', import.meta.resolve('@modelcontextprotocol/server-everything/package.json'));
  const child = spawn(process.execPath, [fileURLToPath(program), mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  // The output is read continuously: the server writes a line per request, and a closed pipe would end it.
  child.stderr.on('data', chunk => {
    output += String(chunk);
    if (/listening on port|is running on port/.test(output)) resolve();
  });
  child.once('exit', () => reject(new Error(`server-everything ended: ${output}`)));
  await listening;
  return {
    url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
