import type { JSONRPCErrorResponse, JSONRPCResultResponse } from '@modelcontextprotocol/sdk/types.js';
import { isJson, type Json } from '../json.ts';
import { invalid, McpFailure, serverFailure } from './failure.ts';
import { initializeResult } from './initialize-result.ts';
import { messagesIn } from './message.ts';

const STREAM_GRACE_MS = 1_000;

/** A request of ours that has not been answered. */
export type Exchange = {
  readonly id: string | number;
  readonly method: string | undefined;
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

type Answer = JSONRPCResultResponse | JSONRPCErrorResponse;

/** A message as the SDK is given it; `answers`: the request that it answers. */
export type Passed = { text: string; answers?: string | number };

/** The answer by which the SDK's client rejects a request with a failure of ours, as the error's data. */
export const failureMessage = (id: string | number, failure: McpFailure): JSONRPCErrorResponse => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message: failure.message, data: failure },
});

/** Servers also use the SDK's own error codes, such as the timeout's. The failure in the data keeps the two apart. */
function withFailure(message: JSONRPCErrorResponse): JSONRPCErrorResponse {
  const { code, message: text, data } = message.error;
  if (data instanceof McpFailure || message.id === undefined) return message;
  return failureMessage(
    message.id,
    serverFailure({ code, message: text, ...(isJson(data) ? { data: data as Json } : {}) }),
  );
}

/**
 * The waiting requests of a session, and their answers. Answers are read here before the SDK reads them, because its strict
 * schemas refuse a whole answer for one odd member, even if a tool has run. The SDK gets a well-formed message with an empty
 * result, and the result itself is kept here until the SDK has passed that message on.
 */
export class Exchanges {
  readonly #waiting = new Map<string | number, Exchange>();
  readonly #results = new Map<string | number, Json>();

  begin(id: string | number, method: string | undefined): Exchange {
    const abort = new AbortController();
    const exchange = { id, method, abort, bytes: 0, total: 0, eventId: undefined, resumptions: 0, grace: undefined };
    this.#waiting.set(id, exchange);
    return exchange;
  }

  all(): Exchange[] {
    return [...this.#waiting.values()];
  }

  get(id: string | number): Exchange | undefined {
    return this.#waiting.get(id);
  }

  waits(exchange: Exchange): boolean {
    return this.#waiting.get(exchange.id) === exchange;
  }

  forget({ id }: Exchange): void {
    this.#waiting.delete(id);
    this.#results.delete(id);
  }

  /** Returns the messages in a value that a server sent, for the SDK. `asked`: the request in whose answer it is. */
  read(value: Json, asked: Exchange | undefined): Passed[] {
    return messagesIn(value).flatMap((message): Passed[] => {
      if (message.kind === 'request' || message.kind === 'notification') {
        const { kind: _, ...fields } = message;
        return [{ text: JSON.stringify({ jsonrpc: '2.0', ...fields }) }];
      }
      const id = this.#find(message.id, asked)?.id;
      if (id === undefined) return [];
      if (message.kind === 'error') {
        return [{ text: JSON.stringify({ jsonrpc: '2.0', id, error: message.error }), answers: id }];
      }
      if (this.#results.has(id)) return [];
      this.#results.set(id, message.result);
      return [{ text: JSON.stringify({ jsonrpc: '2.0', id, result: {} }), answers: id }];
    });
  }

  /** Returns the waiting request that an answer belongs to: some servers turn ids into text, or leave them out. */
  #find(id: string | number | null, asked: Exchange | undefined): Exchange | undefined {
    if (id !== null) {
      const number = typeof id === 'string' && /^\d+$/.test(id) ? Number(id) : id;
      return this.#waiting.get(id) ?? this.#waiting.get(number);
    }
    const only = asked ?? (this.#waiting.size === 1 ? this.all()[0] : undefined);
    return only !== undefined && this.waits(only) ? only : undefined;
  }

  /** Ends the wait of an answer's request. Returns the answer with its result, or null for one that is not passed on. */
  answered(message: Answer): Answer | null {
    const exchange = message.id === undefined ? undefined : this.#waiting.get(message.id);
    const result = exchange && this.#results.get(exchange.id);
    if (exchange !== undefined) {
      this.forget(exchange);
      exchange.grace = setTimeout(() => exchange.abort.abort(), STREAM_GRACE_MS).unref();
    }
    if ('error' in message) return withFailure(message);
    if (exchange === undefined || result === undefined) return null;
    if (exchange.method !== 'initialize') return { ...message, result: { value: result } };
    const greeting = initializeResult(result);
    if (greeting === null) return failureMessage(exchange.id, invalid('to initialize is not an object'));
    return { ...message, result: greeting };
  }
}
