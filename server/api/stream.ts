import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Principal } from '../contract/context.ts';
import { findWorkflow } from '../domains/workflows/store.ts';
import { AppError, forbidden, notFound, unauthenticated, unavailable } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { noteShownSecrets } from '../platform/secrets/in-use.ts';
import {
  type Authenticator,
  authenticate,
  type Credential,
  type Headers,
  readCredential,
  servedOverHttps,
} from './authenticate.ts';
import { clientAddress } from './client-address.ts';
import { endConnection } from './edge.ts';
import { asAppError, errorBody, logFailure } from './failure.ts';
import { hasRole, hasScope } from './invoke.ts';
import type { Metrics } from './metrics.ts';
import { rateLimited, takeRequest } from './rate.ts';
import { readTarget } from './request.ts';
import { isOwnOrigin } from './same-origin.ts';
import { Slices, StreamCounts } from './stream-admission.ts';
import { isStreamPath, readStreamQuery, scopeInQuery, streamedWorkflow } from './stream-query.ts';
import type { StreamTarget } from './stream-selection.ts';
import { closeCode, feed } from './stream-socket.ts';

export type StreamOptions = Authenticator & {
  metrics: Pick<Metrics, 'sockets'>;
  /** ms between pings; a peer that has not answered one by the next is dead. */
  pingEveryMs?: number;
  /** ms between checks of the credentials; with the 2 s a token may be cached, under the promised 5 s. */
  recheckEveryMs?: number;
};

export type Stream = {
  /** Takes an upgrade of a stream's path and returns true; anything else is left alone. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Closes every socket with 1001 and resolves when they are gone (2 s at most). */
  close(): Promise<void>;
};

type Open = { socket: WebSocket; principal: Principal; credential: Credential; header: Headers; alive: boolean };

const streamScope = 'workflow:read';
const streamRole = 'project_viewer';
/** A client has nothing to say: what it sends is read, ignored and small. */
const maxIncomingBytes = 4096;
// A name of its own, since the types of ws do not know `closeTimeout` (ms until a peer that ignores a close is cut off) yet.
const serverOptions = {
  noServer: true,
  maxPayload: maxIncomingBytes,
  perMessageDeflate: false, // events are small; a deflate context would cost each socket 300 KB
  clientTracking: false,
  closeTimeout: 5000,
  handleProtocols: (protocols: Set<string>) => (protocols.has('bearer') ? 'bearer' : (false as const)),
};

/**
 * The WebSocket surface, `GET /v1/workflows/{id}/stream` (docs/specification/events.md#stream). A refused upgrade is
 * an HTTP response with the API's error body. `?run_id=` may name a run that is yet to start (its id can be the
 * client's own).
 */
export function createStream(options: StreamOptions): Stream {
  const server = new WebSocketServer(serverOptions);
  const open = new Set<Open>();
  const { maxStreamsPerUser, maxStreamsPerTenant } = options.services.config.http;
  const counts = new StreamCounts({ perUser: maxStreamsPerUser, perTenant: maxStreamsPerTenant });
  const slices = new Slices();
  let closing = false;
  const pings = setInterval(() => ping(open), options.pingEveryMs ?? 20_000);
  const rechecks = recheckLoop(options, open, options.recheckEveryMs ?? 2000);
  pings.unref();

  const accept = (request: IncomingMessage, raw: Duplex, head: Buffer, asked: Asked) => {
    server.handleUpgrade(request, raw, head, socket => {
      const entry: Open = { socket, alive: true, ...asked };
      open.add(entry);
      options.metrics.sockets.opened();
      socket.on('pong', () => {
        entry.alive = true;
      });
      socket.on('error', () => undefined); // a broken or oversized frame; `close` follows
      socket.once('close', code => {
        open.delete(entry);
        options.metrics.sockets.closed(code);
      });
      feed(options.services, { socket, raw }, asked.target).catch(thrown => fail(options, socket, thrown));
    });
  };

  return {
    upgrade(request, socket, head) {
      const url = readTarget(request.url ?? '/');
      if (!isStreamPath(url.pathname)) return false;
      slices.add(async () => {
        // The client has gone while it waited for its turn.
        if (socket.destroyed) return;
        try {
          if (closing) throw shuttingDown();
          const asked = await admit(options, request, url);
          if (closing) throw shuttingDown();
          const exceeded = counts.take(asked.principal, socket);
          if (exceeded) throw tooManyStreams(exceeded);
          accept(request, socket, head, asked);
        } catch (thrown) {
          refuse(options, socket, thrown);
        }
      });
      return true;
    },
    async close() {
      closing = true;
      clearInterval(pings);
      rechecks.stop();
      const gone = [...open].map(({ socket }) => new Promise(resolve => socket.once('close', resolve)));
      for (const { socket } of open) socket.close(closeCode.goingAway, 'the server is shutting down');
      const timer = setTimeout(() => {
        for (const { socket } of open) socket.terminate();
      }, 2000);
      await Promise.all(gone);
      clearTimeout(timer);
    },
  };
}

type Target = ReturnType<typeof readTarget>;
type Asked = { principal: Principal; credential: Credential; header: Headers; target: StreamTarget };

/** Everything that can refuse a stream, in the order of the other surfaces: 401, 429, 403, 422, 503, 404. */
async function admit(options: StreamOptions, request: IncomingMessage, url: Target): Promise<Asked> {
  const { services } = options;
  // A browser cannot set headers on a socket, so the scope may stand in the query.
  const header: Headers = name => [request.headers[name]].flat()[0] ?? scopeInQuery(url.search, name);
  const credential = streamCredential(header, servedOverHttps(services.config));
  const principal = await authenticate(options, credential, header);
  const address = clientAddress(
    request.socket.remoteAddress,
    header('x-forwarded-for'),
    services.config.http.trustedProxies,
  );
  const state = await takeRequest(services.rateLimiter, principal, address);
  if (!state.allowed) throw rateLimited(state);
  if (!principal) throw unauthenticated();
  if (credential.kind === 'session' && !isOwnOrigin(header, services.config.http.url)) {
    throw forbidden('The request did not come from this site.', 'cross_site');
  }
  if (!mayStream(principal)) throw forbidden(`This needs the role ${streamRole} and the scope ${streamScope}.`);
  const query = readStreamQuery(url.search);
  // Whoever leads sends the events; a socket here would stay silent for ever.
  if (services.orchestrator.status() !== 'leading') {
    throw unavailable('not_leading', 'This server is not executing runs at the moment.');
  }
  const workflowId = streamedWorkflow(url.pathname);
  const workflow = workflowId && (await findWorkflow(services.prisma, principal, workflowId));
  if (!workflow) throw notFound('Workflow');
  return { principal, credential, header, target: { principal, workflowId: workflow.id, query } };
}

/** The header, the cookie, or `Sec-WebSocket-Protocol: bearer, <PAT>` (browsers cannot set Authorization on a socket). */
function streamCredential(header: Headers, https: boolean): Credential {
  const credential = readCredential(header, https);
  if (header('authorization') !== undefined) return credential;
  const [scheme, token] = (header('sec-websocket-protocol') ?? '').split(',').map(part => part.trim());
  if (scheme !== 'bearer' || !token) return credential;
  noteShownSecrets([token]);
  return { kind: 'pat', token };
}

function mayStream(principal: Principal): boolean {
  return hasRole(principal.role, streamRole) && hasScope(principal, streamScope);
}

function tooManyStreams({ limit, of }: { limit: number; of: 'user' | 'workspace' }): AppError {
  const headers = { 'Retry-After': '5' };
  return new AppError(429, 'too_many_streams', `More than ${limit} open streams of this ${of}.`, { headers });
}

function shuttingDown(): AppError {
  return new AppError(503, 'shutting_down', 'The server is shutting down.', { headers: { 'Retry-After': '5' } });
}

function refuse(options: StreamOptions, socket: Duplex, thrown: unknown): void {
  const error = asAppError(thrown);
  const requestId = newId();
  logFailure(options.services.logger, error, { requestId, operation: 'stream' });
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    Connection: 'close',
    ...error.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endConnection(
    socket,
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}

/** A replay failed: the client gets an error and can resume. */
function fail(options: StreamOptions, socket: WebSocket, thrown: unknown): void {
  const error = asAppError(thrown);
  logFailure(options.services.logger, error, { requestId: '', operation: 'stream' });
  if (socket.readyState !== socket.OPEN) return;
  socket.send(JSON.stringify({ type: 'error', error: error.message }));
  socket.close(closeCode.internal, error.code);
}

function ping(open: Set<Open>): void {
  for (const entry of open) {
    if (!entry.alive) entry.socket.terminate();
    entry.alive = false;
    if (entry.socket.readyState === entry.socket.OPEN) entry.socket.ping();
  }
}

/**
 * Asks again and again whether each open socket's credential still holds, once per credential and scope. A database that is away
 * proves nothing and closes nothing.
 */
function recheckLoop(options: StreamOptions, open: Set<Open>, everyMs: number): { stop(): void } {
  let running = false;
  const round = async () => {
    if (running) return;
    running = true;
    try {
      for (const entries of groupByCredential(open).values()) await recheck(options, entries);
    } catch (error) {
      options.services.logger.error({ err: error }, 'the credentials of open streams could not be checked');
    }
    running = false;
  };
  const timer = setInterval(() => void round(), everyMs);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}

function groupByCredential(open: Set<Open>): Map<string, Open[]> {
  return Map.groupBy(open, ({ credential, header }) =>
    JSON.stringify([credential, header('x-tenant-id'), header('x-project-id')]),
  );
}

async function recheck(options: StreamOptions, entries: Open[]): Promise<void> {
  const [first] = entries;
  if (!first) return;
  const principal = await authenticate(options, first.credential, first.header).catch(asAppError);
  if (principal instanceof AppError && principal.status >= 500) return;
  for (const { socket, principal: before } of entries) {
    const holds =
      principal !== null &&
      !(principal instanceof AppError) &&
      principal.tenantId === before.tenantId &&
      principal.projectId === before.projectId &&
      mayStream(principal);
    if (!holds) socket.close(closeCode.unauthorized, 'the credential no longer allows this stream');
  }
}
