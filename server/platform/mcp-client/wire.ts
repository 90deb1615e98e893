import { setImmediate } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Json } from '../json.ts';
import { EventMessages } from './event-messages.ts';
import { type Exchange, Exchanges, failureMessage, type Passed } from './exchanges.ts';
import { invalid, McpFailure, networkFailure, statusFailure } from './failure.ts';
import { guardBody } from './guarded-body.ts';
import { messagesIn, parseServerJson, type WireError } from './message.ts';

/**
 * A stream that breaks more often is given up: with `retry: 0` a server could keep us busy for the
 * whole time limit of the call.
 */
const MAX_RESUMPTIONS = 20;
const MAX_ERROR_BODY_BYTES = 64 * 1024;
/** The total size of the messages that one call may receive, in multiples of the largest message. */
const MESSAGES_IN_ALL = 16;

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

const localAnswer = (status: number) => new Response(null, { status });

/** Returns the error in a JSON body; HTML pages contain nothing useful. */
function errorIn(text: string): WireError | undefined {
  try {
    const [first] = messagesIn(parseServerJson(text));
    return first?.kind === 'error' ? first.error : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the content type of a response without its parameters, also where a proxy has repeated the header. */
const mediaType = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? '';
const EVENT_STREAM = 'text/event-stream';
/** Pages and media are not answers of an MCP server. Any other content type may be a wrong label on JSON. */
const NO_ANSWER = /^(text\/html|image\/|audio\/|video\/)/;

/**
 * The HTTP layer of one session, which the SDK's transports call as `fetch`. It adds the credentials, limits the bytes that are
 * read, matches answers to requests, and ends requests for which the SDK would wait until their timeout: the SDK does not report
 * a stream that ends without the answer.
 */
export class Wire {
  readonly #options: { url: URL; headers: Record<string, string>; fetch: typeof fetch; clock: Clock; maxBytes: number };
  readonly #lifetime = new AbortController();
  readonly #exchanges = new Exchanges();
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
      if ('result' in message || 'error' in message) {
        const answer = this.#exchanges.answered(message);
        if (answer === null) return;
        void setImmediate()
          .then(() => onmessage?.(answer, extra))
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
    for (const exchange of this.#exchanges.all()) exchange.bytes = 0;
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
    const exchange = this.#exchanges.begin(message.id ?? '', message.method);
    this.#streamBytes = 0;
    try {
      const response = await this.#send(url, init, exchange);
      if (this.#kind === 'streamable_http' && response.status === 202) {
        throw new McpFailure('mcp_invalid_response', 'The MCP server accepted a request without answering it', false);
      }
      return response;
    } catch (error) {
      this.#exchanges.forget(exchange);
      throw error;
    }
  }

  async #postCancellation(url: URL, init: Init, params: z.infer<typeof Outgoing>['params']): Promise<Response> {
    const exchange = params?.requestId === undefined ? undefined : this.#exchanges.get(params.requestId);
    if (exchange) this.#exchanges.forget(exchange);
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
    const exchange = this.#exchanges.all().find(one => one.eventId === eventId);
    if (!exchange) return localAnswer(405);
    if (++exchange.resumptions > MAX_RESUMPTIONS) {
      this.#fail(exchange, connectionLost('The stream of the MCP server broke too often'));
      return localAnswer(405);
    }
    return await this.#send(url, init, exchange);
  }

  async #openEventStream(url: URL, init: Init): Promise<Response> {
    // EventSource would reconnect to a session that was never initialized.
    if (++this.#eventStreams > 1) throw this.ended ?? connectionLost('The event stream of the MCP server ended');
    return await this.#send(url, init, 'events');
  }

  async #send(url: URL, init: Init, role: Role): Promise<Response> {
    try {
      if (this.ended) throw this.ended;
      const own = typeof role === 'object' ? role.abort.signal : undefined;
      const signals = [init.signal, this.#lifetime.signal, own].filter(signal => signal != null);
      const request = { ...init, redirect: 'manual' as const, signal: AbortSignal.any(signals) };
      const response = await this.#options.fetch(url, request);
      const isRedirect = response.status >= 300 && response.status < 400;
      if (!response.ok && !isRedirect) throw await this.#refused(response);
      this.#sessionId = response.headers.get('mcp-session-id') ?? this.#sessionId;
      const isStream = isRedirect || response.status === 202 || mediaType(response) === EVENT_STREAM;
      const isAnswer = typeof role === 'object' && init.method === 'POST' && this.#kind === 'streamable_http';
      return isAnswer && !isStream ? await this.#whole(response, role) : this.#guard(response, role);
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
    const serverError = errorIn(await new Response(body).text().catch(() => ''));
    const isSessionGone =
      response.status === 404 || (response.status === 400 && /session/i.test(serverError?.message ?? ''));
    if (isSessionGone && this.#sessionId !== undefined) {
      this.#sessionId = undefined;
      this.ended = new McpFailure('mcp_session_lost', 'The MCP server has ended the session', true, { unsent: true });
      return this.ended;
    }
    return statusFailure(response, serverError, this.#options.clock.now());
  }

  /** Returns the response with a body that is limited, and whose end is noticed. */
  #guard(response: Response, role: Role): Response {
    if (!response.body) return response;
    const events = mediaType(response) === EVENT_STREAM;
    const watch = {
      received: (count: number) => this.#count(count, role),
      events: events && role !== 'aside' ? new EventMessages(data => this.#readEvent(data, role)) : undefined,
      eventId: (id: string) => {
        if (typeof role === 'object') role.eventId = id;
      },
      ended: () => void this.#bodyEnded(role),
    };
    const headers = new Headers(response.headers);
    if (events) headers.set('content-type', EVENT_STREAM);
    return new Response(guardBody(response.body, watch, { events }), { status: response.status, headers });
  }

  #readEvent(data: string, role: Role): string[] {
    try {
      const requested = typeof role === 'object' ? role : undefined;
      return this.#exchanges.read(parseServerJson(data), requested).map(({ text }) => text);
    } catch {
      // The stream may still bring the answer.
      return [];
    }
  }

  /** Reads an answer that is not a stream, and returns its messages for the SDK. */
  async #whole(response: Response, exchange: Exchange): Promise<Response> {
    const type = mediaType(response);
    if (NO_ANSWER.test(type)) {
      await response.body?.cancel();
      throw invalid(`has the content type ${type}`);
    }
    const watch = {
      received: (count: number) => this.#count(count, exchange),
      ended: () => clearTimeout(exchange.grace),
    };
    const body = response.body && guardBody(response.body, watch, { events: false });
    const messages = this.#messagesIn(await new Response(body).text(), exchange);
    const headers = new Headers(response.headers);
    headers.set('content-type', 'application/json');
    return new Response(`[${messages.map(({ text }) => text).join()}]`, { headers });
  }

  #messagesIn(text: string, exchange: Exchange): Passed[] {
    if (text.trim() === '') throw invalid('is empty');
    let value: Json;
    try {
      value = parseServerJson(text);
    } catch {
      throw invalid('is not JSON');
    }
    const messages = this.#exchanges.read(value, exchange);
    if (messages.some(({ answers }) => answers === exchange.id)) return messages;
    throw messagesIn(value).length === 0 ? invalid('is no JSON-RPC message') : connectionLost(NO_RESULT);
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
    if (role === 'events') return this.#end(connectionLost('The event stream of the MCP server ended'));
    if (this.#exchanges.waits(role) && role.eventId === undefined && this.#kind === 'streamable_http') {
      this.#fail(role, connectionLost(NO_RESULT));
    }
  }

  /** Ends the session and all requests that wait in it. */
  #end(failure: McpFailure): void {
    this.ended ??= failure;
    for (const exchange of this.#exchanges.all()) this.#fail(exchange, failure);
  }

  #failStreamless(): void {
    for (const exchange of this.#exchanges.all()) {
      if (exchange.eventId !== undefined)
        this.#fail(exchange, connectionLost('The broken stream of the MCP server could not be resumed'));
    }
  }

  /**
   * Answers a request in the server's place: the SDK's client then rejects it with this failure as the error's data.
   */
  #fail(exchange: Exchange, failure: McpFailure): void {
    this.#exchanges.forget(exchange);
    exchange.abort.abort();
    this.#transport?.onmessage?.(failureMessage(exchange.id, failure));
  }
}

const NO_RESULT = 'The MCP server ended its answer without a result';
const connectionLost = (message: string) => new McpFailure('mcp_connection_lost', message, true);
