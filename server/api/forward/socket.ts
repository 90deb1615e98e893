import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { endConnection } from '../edge.ts';
import { type Forward, refuseRefusal } from './forward.ts';
import { closeFrame, FrameBoundary } from './frame-boundary.ts';
import type { Upgraded } from './peers.ts';
import { relayed, responseHeaders } from './relay.ts';
import type { SignedRequest } from './signature.ts';

/** Close codes that a client of an interrupted stream gets, so that it reconnects at its position. */
export type Interrupted = { code: number; reason: string };
/** A client's request for a WebSocket. `interrupted`: the close code that it gets if the other node is lost. */
export type SocketRequest = Pick<SignedRequest, 'header'> & {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
  pathname: string;
  search: string;
  address: string;
  interrupted: Interrupted;
};

/** The WebSockets that are forwarded to the nodes that lead their workspaces. */
export class ForwardedSockets {
  readonly #forward: Forward;
  readonly #open = new Set<(why: Interrupted) => void>();

  constructor(forward: Forward) {
    this.#forward = forward;
  }

  /**
   * Joins the client's connection with the node that leads the workspace. Returns false if this node has to accept the WebSocket
   * itself. Throws AppError 503, with nothing sent, if the other node could not be reached.
   */
  async join(client: SocketRequest, tenantId: string): Promise<boolean> {
    const { socket, request, header, pathname, search, address } = client;
    const clientGone = new AbortController();
    const leave = () => clientGone.abort();
    socket.once('close', leave);
    const forwardable = {
      method: request.method ?? 'GET',
      pathname,
      search,
      header,
      headerNames: () => Object.keys(request.headers),
      address,
    };
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const answer = await this.#forward.attempt(tenantId, clientGone.signal, async url => {
      const peerRequest = this.#forward.peerRequest(forwardable, { body: null, headers });
      const upgraded = await this.#forward.peers.upgrade(url, peerRequest, clientGone.signal);
      if ('opened' in upgraded) return { ...upgraded, url };
      refuseRefusal(upgraded);
      return relayed(upgraded, forwardable);
    });
    socket.off('close', leave);
    if (answer === null) return false;
    if ('opened' in answer) this.#pipe(client, answer);
    else endConnection(socket, httpText(answer.status, answer.headers, answer.relayed));
    return true;
  }

  /** Closes every WebSocket. */
  close(why: Interrupted): void {
    for (const end of this.#open) end(why);
  }

  #pipe(
    { socket, head, interrupted }: SocketRequest,
    { url, opened: connection, response, head: first }: UpgradedAt,
  ): void {
    const sent = new FrameBoundary();
    let isEnded = false;
    const end = (why: Interrupted | null) => {
      if (isEnded) return;
      isEnded = true;
      this.#open.delete(end);
      unwatch();
      socket.off('data', toOwner);
      connection.destroy();
      if (why !== null && sent.isOpen) endConnection(socket, closeFrame(why.code, why.reason));
      else if (sent.isClosed) endConnection(socket, '');
      // Within a frame, a close frame would be read as content. The client sees a broken connection, and reconnects too.
      else socket.destroy();
    };
    this.#open.add(end);
    const unwatch = this.#forward.peers.watch(url, () => end(interrupted));
    const headers = { ...responseHeaders(response), Connection: 'Upgrade', Upgrade: 'websocket' };
    socket.write(httpHead(101, headers));
    const toOwner = (bytes: Buffer) => {
      if (!connection.write(bytes)) socket.pause();
    };
    const toClient = (bytes: Buffer) => {
      sent.take(bytes);
      if (!socket.write(bytes)) connection.pause();
    };
    if (first.byteLength > 0) toClient(first);
    connection.on('data', toClient);
    socket.on('drain', () => connection.resume());
    socket.on('data', toOwner);
    connection.on('drain', () => socket.resume());
    if (head.byteLength > 0) connection.write(head);
    for (const each of [socket, connection]) each.on('error', () => undefined);
    connection.once('close', () => end(interrupted));
    socket.once('end', () => connection.end());
    socket.once('close', () => end(null));
    if (socket.destroyed) end(null);
  }
}

type UpgradedAt = Upgraded & { url: string };

function httpHead(status: number, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
}

function httpText(status: number, headers: Record<string, string>, body: unknown): string {
  const text = Buffer.isBuffer(body) ? body.toString() : '';
  const length = { 'Content-Length': String(Buffer.byteLength(text)), Connection: 'close' };
  return httpHead(status, { ...headers, ...length }) + text;
}
