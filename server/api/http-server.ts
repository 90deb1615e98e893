import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { reason } from '../platform/postgres/startup-error.ts';
import { clientAddress } from './rate.ts';

/** What the server hands requests to; exchanged as the process comes up and goes down. */
export type Frontend = {
  request: RequestListener;
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

/** The header in which routes behind Next find the client's address; whatever a client sends under this name is dropped. */
const addressHeader = 'x-baton-client-address';

/** Paths that this server answers itself; everything else is the console's. */
export function isApiPath(url: string | undefined): boolean {
  return /^\/(v1|mcp|healthz|readyz|metrics)(?=[/?#]|$)/.test(url ?? '');
}

/** Notes the client's address on a request before it is handed on to Next. */
export function noteAddress(request: IncomingMessage, trustedProxies: number): void {
  const forwarded = [request.headers['x-forwarded-for']].flat().join(',');
  request.headers[addressHeader] = clientAddress(request.socket.remoteAddress, forwarded, trustedProxies);
}

/**
 * A listening HTTP server, with limits against clients that send slowly. Rejects with the system's error (EADDRINUSE) where the
 * address cannot be had.
 */
export async function listen(
  address: { host: string; port: number },
  frontend: () => Frontend,
): Promise<{ server: Server; port: number }> {
  const server = createServer(
    { headersTimeout: 20_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 },
    (request, response) => frontend().request(request, response),
  );
  server.on('upgrade', (request, socket, head) => frontend().upgrade(request, socket, head));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuseMalformed(error, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** Returns what an operator reads where `listen` rejected. */
export function listenFailure(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is in use: stop what listens there, or set PORT.`;
    case 'EACCES':
      return `Port ${port} may not be opened by this user: set PORT to 1024 or more.`;
    case 'EADDRNOTAVAIL':
      return `HOST=${host} is not an address of this machine: set HOST to 127.0.0.1, to 0.0.0.0 for every network, or to one of its addresses.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST=${host} is a name that does not resolve (${error.code}): set HOST to an address of this machine, such as 127.0.0.1.`;
    default:
      return `The server cannot listen on ${host}:${port}: ${reason(error)}`;
  }
}

/** Stops accepting, lets answers under way finish for up to `graceMs`, then cuts what is left. */
export async function stopListening(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(timer);
}

/** Answers what is not HTTP, in the shape of every other error. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const body = JSON.stringify({ error: 'The request is not well-formed HTTP.', code: 'malformed_request' });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const json = { 'Content-Type': 'application/json; charset=utf-8' };

/** While the database and the orchestrator come up: the port is taken, so that a second start fails before it does anything. */
export const starting: Frontend = {
  request(request, response) {
    const alive = request.url?.startsWith('/healthz') === true;
    response.writeHead(alive ? 200 : 503, alive ? json : { ...json, 'Retry-After': '1' });
    response.end(alive ? '{"status":"ok"}' : '{"error":"The service is starting.","code":"starting"}');
  },
  upgrade(_, socket) {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  },
};
