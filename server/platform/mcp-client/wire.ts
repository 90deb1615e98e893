import { setImmediate } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { McpFailure, networkFailure, statusFailure } from './failure.ts';
import { guardBody } from './guarded-body.ts';

/**
 * A stream that breaks more often is given up: with `retry: 0` a server could keep us busy for the
 * whole time limit of the call.
 */
const MAX_RESUMPTIONS = 20;
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** The total size of what one call may receive, in multiples of the largest message. */
const MESSAGES_IN_ALL = 16;
const STREAM_GRACE_MS = 1_000;

/** A request of ours that has not been answered. */
type Exchange = {
  readonly id: string | number;
  readonly abort: AbortController;
  /** Bytes since the last message, and in total. */
  bytes: number;
  total: number;
  /** The last event of its stream, from which it can be resumed. */
  eventId: string | undefined;
  resumptions: number;
  /** Started by the answer: a server that leaves the stream open afterwards may not keep it. */
  grace: NodeJS.Timeout | undefined;
};

/**
 * The purpose of a body that is being read: the answer to a request, the only event stream of the SSE
 * transport, or nothing relevant.
 */
type Role = Exchange | 'events' | 'aside';

type Init = RequestInit & { headers: Headers };

const Outgoing = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z
    .object({
      requestId: z.union([z.string(), z.number()]).optional(),
      _meta: z.object({ traceparent: z.string().optional() }).optional(),
    })
    .optional(),
});

const ErrorBody = z.object({ error: z.object({ message: z.string() }) });

const localAnswer = (status: number) => new Response(null, { status });

/** Returns the error message of a JSON body; HTML pages contain nothing useful. */
function errorWords(text: string): string | undefined {
  try {
    return ErrorBody.safeParse(JSON.parse(text)).data?.error.message;
  } catch {
    return undefined;
  }
}

/**
 * The HTTP layer of one session, which the SDK's transports call as `fetch`. It adds the credentials, limits what is
 * read, matches answers to requests, and ends requests for which the SDK would wait until their timeout: the SDK does
 * not report a stream that ends without the answer.
 */
export class Wire {
  readonly #options: { url: URL; headers: Record<string, string>; fetch: typeof fetch; clock: Clock; maxBytes: number };
  readonly #lifetime = new AbortController();
  readonly #exchanges = new Map<string | number, Exchange>();
  readonly #cancellations = new Set<Promise<unknown>>();
  readonly #kind: 'streamable_http' | 'sse';
  #transport: Transport | undefined;
  #sessionId: string | undefined;
  #protocolVersion: string | undefined;
  #eventStreams = 0;
  #streamBytes = 0;
  /** Why this session cannot be used any more. */
  ended: McpFailure | undefined;
  /** The failure of the last request: an EventSource does not pass it on. */
  lastFailure: McpFailure | undefined;

  constructor(
    kind: 'streamable_http' | 'sse',
    options: { url: URL; headers: Record<string, string>; fetch: typeof fetch; clock: Clock; maxBytes: number },
  ) {
    this.#kind = kind;
    this.#options = options;
  }

  get protocolVersion(): string | undefined {
    return this.#protocolVersion;
  }

  /**
   * Watches a transport that the SDK's client uses: which requests were answered, and with which protocol version. Each
   * answer is passed on in a separate turn of the event loop: the SDK handles notifications a microtask late, and would
   * lose the progress reported before the answer.
   */
  watch(transport: Transport): void {
    this.#transport = transport;
    const { onmessage, onerror, setProtocolVersion } = transport;
    transport.onmessage = (message, extra) => {
      const isAnswer = 'result' in message || 'error' in message;
      if (isAnswer && message.id !== undefined) this.#answered(message.id);
      if (isAnswer) {
        void setImmediate()
          .then(() => onmessage?.(message, extra))
          .catch((error: Error) => transport.onerror?.(error));
      } else {
        this.#spoke();
        onmessage?.(message, extra);
      }
    };
    transport.setProtocolVersion = version => {
      this.#protocolVersion = version;
      setProtocolVersion?.call(transport, version);
    };
    transport.onerror = error => {
      onerror?.(error);
      if (error.message.startsWith('Maximum reconnection attempts')) this.#failStreamless();
    };
  }

  /** A long call may send many messages; the size of each is limited. */
  #spoke(): void {
    this.#streamBytes = 0;
    for (const exchange of this.#exchanges.values()) exchange.bytes = 0;
  }

  #answered(id: string | number): void {
    const exchange = this.#exchanges.get(id);
    if (!exchange) return;
    this.#exchanges.delete(id);
    exchange.grace = setTimeout(() => exchange.abort.abort(), STREAM_GRACE_MS).unref();
  }

  /** Settles when the cancellations have been sent to the server, or have failed. */
  async cancellationsSent(): Promise<void> {
    await Promise.allSettled(this.#cancellations);
  }

  /**
   * Aborts requests in flight and, as a best effort, ends the session at the server (MCP, Session
   * Management). Never rejects.
   */
  async close(withinMs: number): Promise<void> {
    this.ended ??= new McpFailure('mcp_connection_lost', 'The connection to the MCP server was closed', true);
    this.#lifetime.abort();
    if (this.#sessionId === undefined) return;
    const headers = new Headers({ ...this.#options.headers, 'mcp-session-id': this.#sessionId });
    if (this.#protocolVersion) headers.set('mcp-protocol-version', this.#protocolVersion);
    this.#sessionId = undefined;
    const init: RequestInit = {
      method: 'DELETE',
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
    };
    await this.#options
      .fetch(this.#options.url, init)
      .then(response => response.body?.cancel())
      .catch(() => undefined);
  }

  /** The fetch of the SDK's transports. Rejects with McpFailure. */
  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    this.#checkOrigin(url);
    const headers = new Headers(this.#options.headers);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return init.method === 'POST'
      ? await this.#post(url, { ...init, headers })
      : await this.#get(url, { ...init, headers });
  };

  /**
   * Credentials are only sent to the origin for which they were given; http → https of the same host is the
   * only exception, as in the SDK.
   */
  #checkOrigin(url: URL): void {
    const own = this.#options.url;
    const upgraded = url.protocol === 'https:' && url.hostname === own.hostname && !url.port && !own.port;
    if (url.origin === own.origin || upgraded) return;
    throw new McpFailure('mcp_redirect_refused', `The MCP server points to another origin, ${url.origin}`, false);
  }

  async #post(url: URL, init: Init): Promise<Response> {
    const message = Outgoing.safeParse(JSON.parse(String(init.body))).data ?? {};
    const traceparent = message.params?._meta?.traceparent;
    if (traceparent) init.headers.set('traceparent', traceparent);
    if (message.method === 'notifications/cancelled') return await this.#postCancellation(url, init, message.params);
    const isRequest = message.id !== undefined && message.method !== undefined;
    if (!isRequest) return await this.#send(url, init, 'aside');
    const exchange = this.#begin(message.id ?? '');
    this.#streamBytes = 0;
    try {
      const response = await this.#send(url, init, exchange);
      if (this.#kind === 'streamable_http' && response.status === 202) {
        throw new McpFailure('mcp_invalid_response', 'The MCP server accepted a request without answering it', false);
      }
      return response;
    } catch (error) {
      this.#exchanges.delete(exchange.id);
      throw error;
    }
  }

  #begin(id: string | number): Exchange {
    const exchange = {
      id,
      abort: new AbortController(),
      bytes: 0,
      total: 0,
      eventId: undefined,
      resumptions: 0,
      grace: undefined,
    };
    this.#exchanges.set(id, exchange);
    return exchange;
  }

  async #postCancellation(url: URL, init: Init, params: z.infer<typeof Outgoing>['params']): Promise<Response> {
    const exchange = params?.requestId === undefined ? undefined : this.#exchanges.get(params.requestId);
    if (exchange) this.#exchanges.delete(exchange.id);
    const sent = this.#send(url, init, 'aside').finally(() => exchange?.abort.abort());
    this.#cancellations.add(sent);
    const forget = (): boolean => this.#cancellations.delete(sent);
    sent.then(forget, forget);
    return await sent;
  }

  async #get(url: URL, init: Init): Promise<Response> {
    if (this.#kind === 'sse') return await this.#openEventStream(url, init);
    // The stream for messages that servers send on their own: none of them is useful here (no sampling, no roots, lists
    // are read when needed), and it would hold a connection per session.
    const eventId = init.headers.get('last-event-id');
    if (eventId === null) return localAnswer(405);
    const exchange = [...this.#exchanges.values()].find(one => one.eventId === eventId);
    if (!exchange) return localAnswer(405);
    if (++exchange.resumptions > MAX_RESUMPTIONS) {
      this.#fail(exchange, lost('The stream of the MCP server broke too often'));
      return localAnswer(405);
    }
    return await this.#send(url, init, exchange);
  }

  async #openEventStream(url: URL, init: Init): Promise<Response> {
    // EventSource would reconnect to a session that was never initialized.
    if (++this.#eventStreams > 1) throw this.ended ?? lost('The event stream of the MCP server ended');
    return await this.#send(url, init, 'events');
  }

  async #send(url: URL, init: Init, role: Role): Promise<Response> {
    try {
      if (this.ended) throw this.ended;
      const own = typeof role === 'object' ? role.abort.signal : undefined;
      const signals = [init.signal, this.#lifetime.signal, own].filter(signal => signal != null);
      const request = { ...init, redirect: 'manual' as const, signal: AbortSignal.any(signals) };
      const response = await this.#options.fetch(url, request);
      if (response.ok || (response.status >= 300 && response.status < 400)) return this.#guard(response, role);
      throw await this.#refused(response);
    } catch (error) {
      this.lastFailure = networkFailure(error);
      throw this.lastFailure;
    }
  }

  async #refused(response: Response): Promise<McpFailure> {
    let bytes = 0;
    const received = (count: number): void => {
      bytes += count;
      if (bytes > MAX_ERROR_BODY_BYTES) throw new Error('too large');
    };
    const body = response.body && guardBody(response.body, { received, ended: () => undefined }, { events: false });
    const said = errorWords(await new Response(body).text().catch(() => ''));
    const gone = response.status === 404 || (response.status === 400 && /session/i.test(said ?? ''));
    if (gone && this.#sessionId !== undefined) {
      this.#sessionId = undefined;
      this.ended = new McpFailure('mcp_session_lost', 'The MCP server has ended the session', true, { unsent: true });
      return this.ended;
    }
    return statusFailure(response, said, this.#options.clock.now());
  }

  /** Returns the response with a body that is limited, and whose end is noticed. */
  #guard(response: Response, role: Role): Response {
    this.#sessionId = response.headers.get('mcp-session-id') ?? this.#sessionId;
    if (!response.body) return response;
    const watch = {
      received: (count: number) => this.#count(count, role),
      eventId: (id: string) => {
        if (typeof role === 'object') role.eventId = id;
      },
      ended: () => void this.#bodyEnded(role),
    };
    const events = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const body = guardBody(response.body, watch, { events });
    return new Response(body, { status: response.status, headers: response.headers });
  }

  #count(count: number, role: Role): void {
    const { maxBytes } = this.#options;
    if (typeof role === 'object') {
      role.bytes += count;
      role.total += count;
      if (role.bytes <= maxBytes && role.total <= MESSAGES_IN_ALL * maxBytes) return;
    } else {
      this.#streamBytes += count;
      if (this.#streamBytes <= maxBytes) return;
    }
    const limit = `The MCP server sent more than ${maxBytes} bytes`;
    const failure = new McpFailure('mcp_response_too_large', limit, false);
    if (typeof role === 'object') this.#fail(role, failure);
    else if (role === 'events') this.#end(failure);
    throw failure;
  }

  async #bodyEnded(role: Role): Promise<void> {
    if (typeof role === 'object') clearTimeout(role.grace);
    if (role === 'aside' || this.#lifetime.signal.aborted) return;
    // Within microtasks, the reader receives what arrived before the end.
    await setImmediate();
    if (role === 'events') return this.#end(lost('The event stream of the MCP server ended'));
    const pending = this.#exchanges.get(role.id) === role;
    if (pending && role.eventId === undefined && this.#kind === 'streamable_http') {
      this.#fail(role, lost('The MCP server ended its answer without a result'));
    }
  }

  /** Ends the session and all requests that wait in it. */
  #end(failure: McpFailure): void {
    this.ended ??= failure;
    for (const exchange of [...this.#exchanges.values()]) this.#fail(exchange, failure);
  }

  #failStreamless(): void {
    for (const exchange of [...this.#exchanges.values()]) {
      if (exchange.eventId !== undefined)
        this.#fail(exchange, lost('The broken stream of the MCP server could not be resumed'));
    }
  }

  /**
   * Answers a request in the server's place: the SDK's client then rejects it with this failure as the error's data.
   */
  #fail(exchange: Exchange, failure: McpFailure): void {
    this.#exchanges.delete(exchange.id);
    exchange.abort.abort();
    const error = { code: -32_000, message: failure.message, data: failure };
    this.#transport?.onmessage?.({ jsonrpc: '2.0', id: exchange.id, error });
  }
}

const lost = (message: string) => new McpFailure('mcp_connection_lost', message, true);
