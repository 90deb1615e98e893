import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../platform/logger.ts';
import { inRequestScope } from '../platform/secrets/in-use.ts';
import { clientAddress } from './client-address.ts';

/** The handlers of requests and upgrades; replaced as the process starts and stops. */
export type Frontend = {
  request(...request: Parameters<RequestListener>): void | Promise<void>;
  /** Accepts the upgrade to WebSocket and returns true; returns false, without any effect, if the path has none. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Returns whether an address belongs to another node, whose connections are not limited. Absent outside of a cluster. */
  isNode?(address: string): boolean;
};

export type EdgeOptions = {
  logger: Pick<Logger, 'error' | 'warn'>;
  /** The maximum number of connections; further ones are closed as they arrive. Default: MAX_CONNECTIONS. */
  maxConnections?: number;
  /** The maximum number of connections of one address; 0 = no limit. */
  maxConnectionsPerAddress: number;
  trustedProxies: number;
};

/** The listening server. */
export type Edge = {
  port: number;
  /**
   * Stops accepting connections, lets answers in progress finish for up to `graceMs`, then cuts every connection,
   * upgraded or not.
   */
  close(graceMs: number): Promise<void>;
};

/**
 * The default maximum number of connections of a process. Each costs file handles and memory. The limits of streams, of an
 * address and of a workspace are reached long before; this limit covers connections that they do not count.
 */
const MAX_CONNECTIONS = 10_000;
/** How long a connection may stay half open after the final answer. */
const LINGER_MS = 1000;
/**
 * The number of connections that may wait to be accepted; the system may lower it (on Linux to `net.core.somaxconn`, 4,096).
 * Node's 511 overflowed thousands of times in a burst of 1,500 clients on busy cores, and a client was reset.
 */
const BACKLOG = 4_096;
/** The same failure is logged only once in this time: a flood must not fill the disk. */
const LOG_EVERY_MS = 10_000;

/**
 * Listens for HTTP, with limits against clients that send slowly. Every event of a connection is handled here, and none
 * can end the process: an error of a handler affects only its own connection. Rejects with the system's error
 * (EADDRINUSE) if the address is not available.
 */
export async function listen(
  address: { host: string; port: number },
  frontend: () => Frontend,
  options: EdgeOptions,
): Promise<Edge> {
  const server = createServer({
    headersTimeout: 20_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    // RFC 9110, 7.8: an upgrade to anything else (h2c) may be ignored, and the request is answered normally.
    shouldUpgradeCallback: request => /\bwebsocket\b/i.test(request.headers.upgrade ?? ''),
  });
  server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
  const connections = new Connections(options, address => frontend().isNode?.(address) === true);
  const failed = reportFailures(options.logger);
  server.on('connection', socket => connections.add(socket));
  server.on('request', (request, response) => {
    void inRequestScope(() =>
      serve(frontend(), request, response).catch(thrown => {
        failed(thrown);
        failRequest(response);
      }),
    );
  });
  server.on('upgrade', (request, socket, head) => {
    try {
      if (!connections.admits(request)) return refuseUpgrade(socket, 429);
      const isTaken = inRequestScope(() => frontend().upgrade(request, socket, head));
      if (!isTaken) refuseUpgrade(socket, 404);
    } catch (thrown) {
      failed(thrown);
      socket.destroy();
    }
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuseMalformed(error, socket as Socket & Answering),
  );
  await listening(server, address);
  // For example too many open files: the next connection may be accepted again.
  server.on('error', failed);
  return {
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => connections.destroy(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function listening(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function serve(frontend: Frontend, request: IncomingMessage, response: ServerResponse): Promise<void> {
  await frontend.request(request, response);
}

/** Returns a function that logs failures of a handler, for each message once in a while. */
function reportFailures(logger: Pick<Logger, 'error'>): (thrown: unknown) => void {
  const last = new Map<string, number>();
  return thrown => {
    const message = thrown instanceof Error ? thrown.message.slice(0, 200) : String(thrown).slice(0, 200);
    const now = performance.now();
    if (now - (last.get(message) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return;
    if (last.size >= 100) last.clear();
    last.set(message, now);
    logger.error({ err: thrown }, 'a handler of the HTTP server failed');
  };
}

/** The open connections, including upgraded ones, and their number for each address. */
class Connections {
  readonly #all = new Set<Socket>();
  readonly #counts = new Map<string, number>();
  readonly #options: EdgeOptions;
  readonly #isNode: (address: string) => boolean;

  constructor(options: EdgeOptions, isNode: (address: string) => boolean) {
    this.#options = options;
    this.#isNode = isNode;
  }

  add(socket: Socket): void {
    // Node removes its own listener at an upgrade, and an error without a listener ends the process.
    socket.on('error', () => undefined);
    this.#all.add(socket);
    socket.once('close', () => this.#all.delete(socket));
    // Behind a proxy, all connections come from the proxy.
    if (this.#options.trustedProxies > 0) return;
    if (!this.#count(socket, clientAddress(socket.remoteAddress, undefined, 0))) socket.destroy();
  }

  /**
   * Returns whether the client of an upgrade may open one more connection. Behind a proxy, only upgrades reveal the
   * client, by their header.
   */
  admits(request: IncomingMessage): boolean {
    const { trustedProxies } = this.#options;
    // Another node has counted the connection of its client.
    if (trustedProxies === 0 || this.#isNode(clientAddress(request.socket.remoteAddress, undefined, 0))) return true;
    const forwarded = [request.headers['x-forwarded-for']].flat().join(',');
    return this.#count(request.socket, clientAddress(request.socket.remoteAddress, forwarded, trustedProxies));
  }

  destroy(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #count(socket: Socket, address: string): boolean {
    if (this.#isNode(address)) return true;
    const limit = this.#options.maxConnectionsPerAddress;
    const openCount = this.#counts.get(address) ?? 0;
    if (limit > 0 && openCount >= limit) return false;
    this.#counts.set(address, openCount + 1);
    socket.once('close', () => {
      const remaining = (this.#counts.get(address) ?? 1) - 1;
      if (remaining > 0) this.#counts.set(address, remaining);
      else this.#counts.delete(address);
    });
    return true;
  }
}

/** Sends a final answer on a connection and closes it, even if the client keeps its own side open. */
export function endConnection(socket: Duplex, response: string | Uint8Array): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  // Data that still arrives is read and ignored: if it stayed unread, the system would reset the connection
  // before the answer arrives.
  socket.resume();
  socket.end(response);
}

const refusals = {
  400: ['400 Bad Request', 'malformed_request', 'The request is not well-formed HTTP.'],
  404: ['404 Not Found', 'not_found', 'There is no WebSocket at this path.'],
  408: ['408 Request Timeout', 'request_timeout', 'The request took too long to arrive.'],
  429: ['429 Too Many Requests', 'too_many_connections', 'This address has too many open connections.'],
  431: ['431 Request Header Fields Too Large', 'headers_too_large', 'The headers of the request are too large.'],
  500: ['500 Internal Server Error', 'internal_error', 'The server failed to answer.'],
} as const;

const bodyOf = (status: keyof typeof refusals) => {
  const [, code, error] = refusals[status];
  return JSON.stringify({ error, code });
};

/** Returns a complete response for a connection that has no ServerResponse. */
function rawResponse(status: keyof typeof refusals): string {
  const body = bodyOf(status);
  const retry = status === 429 ? 'Retry-After: 5\r\n' : '';
  return `HTTP/1.1 ${refusals[status][0]}\r\n${retry}Content-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
}

function refuseUpgrade(socket: Duplex, status: 404 | 429): void {
  endConnection(socket, rawResponse(status));
}

/** Node's property for the current response of a connection, described in its documentation of `clientError`. */
type Answering = { _httpMessage?: ServerResponse | null };

/**
 * Answers malformed HTTP in the shape of every other error, but not while an earlier request of the connection waits for its
 * answer, because a client or a proxy would take this response for that answer.
 */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex & Answering): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket._httpMessage) return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  endConnection(socket, rawResponse(status));
}

function failRequest(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  response.writeHead(500, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
  response.end(bodyOf(500));
}
