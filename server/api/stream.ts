import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ReadableItems, requireReadable } from '../domains/runs/access/readers.ts';
import type { StreamQuery, StreamTarget } from '../domains/runs/events/selection.ts';
import { findWorkflow } from '../domains/workflows/store.ts';
import type { Principal } from '../operation/context.ts';
import { hasRole } from '../orchestrator/ports/authority.ts';
import { type Alarm, systemAlarm } from '../platform/clock.ts';
import { forbidden, notFound, unauthenticated, unavailable } from '../platform/errors.ts';
import { newId } from '../platform/ids.ts';
import { startRepeatingJob } from '../platform/repeating-job.ts';
import { noteShownSecrets } from '../platform/secrets/in-use.ts';
import {
  type Authenticator,
  authenticate,
  type Credential,
  type Headers,
  readCredential,
  servedOverHttps,
} from './authenticate.ts';
import { endConnection } from './edge.ts';
import { asAppError, errorBody, logFailure } from './failure.ts';
import type { Forward } from './forward/forward.ts';
import { ForwardedSockets } from './forward/socket.ts';
import { hasScope } from './invoke.ts';
import { fromNode } from './node-http.ts';
import type { OpenStreams } from './open-streams.ts';
import { type Counted, rateLimited, takeRequest } from './rate.ts';
import { readTarget } from './request.ts';
import { refuseForeignSocket } from './same-origin.ts';
import { Slices } from './stream-admission.ts';
import { isStreamPath, readStreamQuery, scopeInQuery, streamedWorkflow } from './stream-query.ts';
import { closeCode, feed, INTERRUPTED } from './stream-socket.ts';

export type StreamOptions = Authenticator & {
  streams: OpenStreams;
  /** Absent outside of a cluster. */
  forward?: Forward | undefined;
  /** Rings for the pings, by default in real time. */
  alarm?: Alarm;
};

export type Stream = {
  /** Takes an upgrade of a stream's path and returns true; anything else is left alone. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Closes every stream, sockets with 1001, and resolves when the sockets are gone (2 s at most). */
  close(): Promise<void>;
};

type Open = { socket: WebSocket; alive: boolean };

/** A peer that has not answered a ping by the next one is dead. */
const PING_EVERY_MS = 20_000;
const streamScope = 'workflow:read';
const streamRole = 'project_viewer';
const GOING_AWAY = { code: closeCode.goingAway, reason: 'the server is shutting down' };
/** Clients have nothing to send: their messages are read, ignored and limited in size. */
const MAX_INCOMING_BYTES = 4096;
// A separate constant, because the types of ws do not declare `closeTimeout` (ms until a peer that ignores a close is cut off)
// yet.
const serverOptions = {
  noServer: true,
  maxPayload: MAX_INCOMING_BYTES,
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
  const { streams } = options;
  const slices = new Slices();
  const elsewhere = options.forward && new ForwardedSockets(options.forward);
  const pings = startRepeatingJob(options.alarm ?? systemAlarm, PING_EVERY_MS, async () => {
    ping(open);
    return PING_EVERY_MS;
  });

  const accept = (request: IncomingMessage, raw: Duplex, head: Buffer, requested: Asked) => {
    server.handleUpgrade(request, raw, head, socket => {
      const entry: Open = { socket, alive: true };
      open.add(entry);
      streams.metrics.sockets.opened();
      const unwatch = streams.watch({ ...requested, may: mayStream, close: why => closeSocket(socket, why) });
      socket.on('pong', () => {
        entry.alive = true;
      });
      socket.on('error', () => undefined); // a broken or oversized frame; `close` follows
      socket.once('close', code => {
        open.delete(entry);
        unwatch();
        streams.metrics.sockets.closed(code);
      });
      feed(options.services, { socket, raw }, requested.target, requested.readable).catch(thrown =>
        fail(options, socket, thrown),
      );
    });
  };

  return {
    upgrade(request, socket, head) {
      const url = readTarget(request.url ?? '/');
      if (!isStreamPath(url.pathname)) return false;
      slices.add(async () => {
        // The client disconnected while it waited for its turn.
        if (socket.destroyed) return;
        try {
          streams.refuseWhileClosing();
          const client = await admit(options, request, url);
          const { tenantId } = client.principal;
          if (elsewhere && !options.forward?.isHere(client, tenantId)) {
            const { header, address } = client;
            const from = { request, socket, head, ...url, header, address, interrupted: INTERRUPTED };
            if (await elsewhere.join(from, tenantId)) return;
          }
          const requested = await findTarget(options, client, url);
          streams.count(requested.principal, socket);
          accept(request, socket, head, requested);
        } catch (thrown) {
          refuse(options, socket, thrown);
        }
      });
      return true;
    },
    async close() {
      await pings.close();
      const closed = [...open].map(({ socket }) => new Promise(resolve => socket.once('close', resolve)));
      streams.close();
      elsewhere?.close(GOING_AWAY);
      const timer = setTimeout(() => {
        for (const { socket } of open) socket.terminate();
      }, 2000);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}

type Target = ReturnType<typeof readTarget>;
type Asked = {
  principal: Principal;
  credential: Credential;
  header: Headers;
  target: StreamTarget;
  readable: ReadableItems;
};

type Client = Counted & { principal: Principal; credential: Credential; header: Headers; query: StreamQuery };

/** Makes the checks that need no workspace, in the order of the other surfaces: 401, 429, 403, 422. */
async function admit(options: StreamOptions, request: IncomingMessage, url: Target): Promise<Client> {
  const { services } = options;
  // A browser cannot set headers on a socket, so the scope may be in the query.
  const header: Headers = name => [request.headers[name]].flat()[0] ?? scopeInQuery(url.search, name);
  const credential = streamCredential(header, servedOverHttps(services.config));
  const principal = await authenticate(options, credential, header);
  const { address, forwarded = false } = fromNode(request, services.config.http.trustedProxies);
  const state = await takeRequest(services.rateLimiter, principal, { address, forwarded });
  if (!state.allowed) throw rateLimited(state);
  if (!principal) throw unauthenticated();
  if (credential.kind === 'session') refuseForeignSocket(header, services.config.http.url);
  if (!mayStream(principal)) throw forbidden(`This needs the role ${streamRole} and the scope ${streamScope}.`);
  return { principal, credential, header, query: readStreamQuery(url.search), address, forwarded };
}

/** Makes the other checks: 503, 404. */
async function findTarget({ services }: StreamOptions, client: Client, url: Target): Promise<Asked> {
  const { principal, credential, header, query } = client;
  // The process that leads sends the events; a socket here would stay silent forever.
  if (!services.orchestrator.leads(principal.tenantId)) {
    throw unavailable('not_leading', 'This server is not executing runs at the moment.');
  }
  const workflowId = streamedWorkflow(url.pathname);
  const workflow = workflowId && (await findWorkflow(services.prisma, principal, workflowId));
  if (!workflow) throw notFound('Workflow');
  const { id, kind } = workflow;
  const readable = new ReadableItems(services, principal, kind);
  if (query.runId !== undefined) await requireReadable(services, principal, query.runId);
  return { principal, credential, header, target: { principal, workflowId: id, query }, readable };
}

/**
 * Reads the credential from the header, the cookie, or `Sec-WebSocket-Protocol: bearer, <PAT>` (browsers cannot set
 * Authorization on a socket).
 */
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

/** Closes the socket after a failed replay with an error, so that the client can resume. */
function fail(options: StreamOptions, socket: WebSocket, thrown: unknown): void {
  const error = asAppError(thrown);
  logFailure(options.services.logger, error, { requestId: '', operation: 'stream' });
  if (socket.readyState !== socket.OPEN) return;
  socket.send(JSON.stringify({ type: 'error', error: error.message }));
  socket.close(closeCode.internal, error.code);
}

function closeSocket(socket: WebSocket, why: 'unauthorized' | 'shutting_down'): void {
  if (why === 'unauthorized') socket.close(closeCode.unauthorized, 'the credential no longer allows this stream');
  else socket.close(GOING_AWAY.code, GOING_AWAY.reason);
}

function ping(open: Set<Open>): void {
  for (const entry of open) {
    if (!entry.alive) entry.socket.terminate();
    entry.alive = false;
    if (entry.socket.readyState === entry.socket.OPEN) entry.socket.ping();
  }
}
