import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import type { Alarm } from '../../platform/clock.ts';
import { Liveness } from './liveness.ts';

/** A request was not delivered, so it may be sent again. */
export class UndeliveredError extends Error {}
/** A request may have been delivered, but was not answered, so it is unknown whether it was executed. */
export class UnansweredError extends Error {}

export type PeerRequest = {
  method: string;
  /** Path and query. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | null;
};

/** A connection that was upgraded, with what came on it behind the response. */
export type Upgraded = { opened: Duplex; response: IncomingMessage; head: Buffer };

/**
 * The time limit for connecting, after which the request is retried: a machine that is gone neither accepts nor refuses
 * connections.
 */
const CONNECT_TIMEOUT_MS = 1_000;

/** A node whose event loop is busy answers late. */
const PROBE_TIMEOUT_MS = 3_000;

/**
 * Sends requests to other nodes on connections that stay open. It uses Node's own client: undici is faster, but cannot relay
 * the answer that refuses an upgrade.
 */
export class Peers {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });
  readonly #secureAgent = new SecureAgent({ keepAlive: true, maxFreeSockets: 256 });
  readonly #liveness: Liveness;

  constructor(alarm: Alarm) {
    this.#liveness = new Liveness(alarm, url => this.#isAlive(url));
  }

  /**
   * Returns the response as soon as its head has arrived; its body may break off later. `signal`: the client has left. Throws
   * UndeliveredError or UnansweredError. While the answer is awaited or read, the node is regularly asked whether it is alive.
   */
  send(url: string, asked: PeerRequest, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#exchange(url, asked, signal, (request, resolve) => {
      request.once('response', resolve);
      if (asked.body === null) request.end();
      else request.end(asked.body);
    });
  }

  /** Does the same as `send` for a request to upgrade the connection. */
  upgrade(url: string, asked: PeerRequest, signal: AbortSignal): Promise<Upgraded | IncomingMessage> {
    return this.#exchange<Upgraded | IncomingMessage>(url, asked, signal, (request, resolve) => {
      request.once('response', resolve);
      request.once('upgrade', (response, opened, head) => resolve({ response, opened, head }));
      request.end();
    });
  }

  /** Calls `gone` when the node does not answer any more; the returned function ends the watch. */
  watch(url: string, gone: () => void): () => void {
    return this.#liveness.watch(url, gone);
  }

  close(): void {
    this.#liveness.close();
    this.#agent.destroy();
    this.#secureAgent.destroy();
  }

  #exchange<T>(
    url: string,
    { method, target, headers }: PeerRequest,
    signal: AbortSignal,
    begin: (request: ReturnType<typeof httpRequest>, resolve: (answer: T) => void) => void,
  ): Promise<T> {
    const secure = url.startsWith('https:');
    const { hostname, port } = new URL(url);
    const request = (secure ? httpsRequest : httpRequest)({
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (secure ? 443 : 80) : port,
      method,
      path: target,
      headers: { ...headers },
      agent: secure ? this.#secureAgent : this.#agent,
      // The client's header names this service, but the certificate must be this node's.
      ...(secure && { servername: hostname }),
    });
    const delivery = deliveryOf(request, secure);
    const unwatch = this.watch(url, () => request.destroy(new Error('The node does not answer.')));
    const leave = () => request.destroy();
    signal.addEventListener('abort', leave, { once: true });
    request.once('close', () => {
      unwatch();
      signal.removeEventListener('abort', leave);
    });
    if (signal.aborted) leave();
    return new Promise((resolve, reject) => {
      request.on('error', cause => {
        const Failure = delivery.begun() ? UnansweredError : UndeliveredError;
        reject(new Failure(`${url}: ${cause.message}`, { cause }));
      });
      begin(request, resolve);
    });
  }

  /**
   * Returns whether the node answers on a new connection, not on one of the agents: an open connection may be broken while a
   * new one works, and vice versa.
   */
  #isAlive(url: string): Promise<boolean> {
    return new Promise(resolve => {
      const ask = url.startsWith('https:') ? httpsRequest : httpRequest;
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const request = ask(new URL('/healthz', url), { agent: false, signal }, response => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.on('error', () => resolve(false));
      request.end();
    });
  }
}

/** Returns whether any part of a request may have reached the other node. */
function deliveryOf(request: ReturnType<typeof httpRequest>, secure: boolean): { begun(): boolean } {
  let isConnected = false;
  request.once('socket', socket => {
    if (request.reusedSocket || !socket.connecting) {
      isConnected = true;
      return;
    }
    const timer = setTimeout(() => request.destroy(new Error('No connection in time.')), CONNECT_TIMEOUT_MS);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      isConnected = true;
      clearTimeout(timer);
    });
    socket.once('close', () => clearTimeout(timer));
  });
  return { begun: () => isConnected };
}
