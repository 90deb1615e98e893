import { UNSAFE_METHODS } from '../../orchestrator/steps/http-request/fields.ts';
import type { HttpAnswer, HttpCall, HttpFailed } from '../../orchestrator/steps/http-request/http-requester.ts';
import { redirectBefore } from '../../platform/egress/redirects.ts';
import { BodyMalformed } from '../../platform/http-client/body.ts';
import { httpFailure } from '../../platform/http-client/failure.ts';
import { type ResponseMemory, ResponseMemoryUsedUp } from '../../platform/http-client/response-memory.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import type { Redactor } from '../../platform/secrets/redaction.ts';
import { detailsOf, errorBodyOf, quoteOf, type Reading, readResponse, redactedHeaders } from './response.ts';

const HIGHEST_STATUS = 599;
/** A single instance for all exchanges: a new error with its stack for each took 4 % of a request's CPU. */
const ENDED = new DOMException('The exchange has ended.', 'AbortError');
/** Failures after which the server may have carried out the request. */
const MAY_HAVE_ARRIVED = new Set(['http_connection_lost', 'response_malformed', 'response_headers_too_large']);

/** A request, the client that sends it, and the secrets that must not appear in the answer. */
export type Exchange = {
  call: HttpCall;
  /** Includes its credentials. */
  url: URL;
  headers: Headers;
  fetch: typeof globalThis.fetch;
  redactor: Redactor;
  memory: ResponseMemory;
  /** ms since the epoch, for a `Retry-After` that is a date. */
  now: number;
  signal: AbortSignal;
};

/** Sends a request and reads its response. Rejects only with defects. */
export async function exchange(on: Exchange): Promise<HttpAnswer> {
  const { call } = on;
  // The caller was cancelled, so no one reads this answer.
  const cancelled = failed('step_cancelled', 'The step was cancelled.');
  const ended = new AbortController();
  try {
    const send = on.fetch;
    const response = await send(on.url, {
      method: call.method,
      headers: on.headers,
      body: call.body,
      redirect: call.followRedirects ? 'follow' : 'manual',
      signal: AbortSignal.any([on.signal, ended.signal]),
    });
    const answer = await answerOf(response, on);
    return on.signal.aborted ? cancelled : answer;
  } catch (error) {
    if (on.signal.aborted) return cancelled;
    return unanswered(error, on);
  } finally {
    // Aborting closes the connection of a body that was not read to its end.
    ended.abort(ENDED);
  }
}

const changesSomething = ({ call }: Exchange) => UNSAFE_METHODS.has(call.method);

function failureOf(error: unknown, { url }: Exchange): HttpFailed {
  if (error instanceof ResponseMemoryUsedUp) return failed('response_memory_used_up', error.message, true);
  if (error instanceof BodyMalformed) return failed('response_malformed', `The body of ${url.host} ${error.message}.`);
  const failure = httpFailure(error, url.host);
  if (failure === undefined) throw error;
  return { kind: 'failed', ...failure };
}

/**
 * Returns the failure of a request that got no answer. After a redirect to a GET, the server has carried out the
 * original request.
 */
function unanswered(error: unknown, on: Exchange): HttpFailed {
  const failure = failureOf(error, on);
  const { method } = on.call;
  const redirect = changesSomething(on) ? redirectBefore(error) : undefined;
  if (redirect !== undefined) {
    const message = `${failure.message} ${carriedOut(method, redirect.status)}`;
    return { ...failure, message: on.redactor.text(message), retryable: false, details: detailsOf(redirect, on) };
  }
  const doubt = changesSomething(on) && MAY_HAVE_ARRIVED.has(failure.code);
  const message = doubt ? `${failure.message} The ${method} request may have been carried out.` : failure.message;
  return { ...failure, message: on.redactor.text(message) };
}

const carriedOut = (method: string, status: number) =>
  `The ${method} request has been carried out: it was answered with ${status}.`;

async function answerOf(response: Response, on: Exchange): Promise<HttpAnswer> {
  const { status } = response;
  if (status > HIGHEST_STATUS) {
    const message = `${on.url.host} answered with the status ${status}, which HTTP does not have.`;
    return { ...failed('response_malformed', message), details: detailsOf(response, on) };
  }
  if (!on.call.expects(status)) return unexpected(response, on);
  const read = await readResponse(response, on, error => failureOf(error, on));
  return read.failure === null ? { kind: 'response', response: read.response } : unreadable(response, read, on);
}

/**
 * Returns the answer for a response with a status of success whose body cannot be read. The server has done its work,
 * so a request that changes something gets a result with a null body: a failure would lose this fact, and a retry would
 * repeat the change.
 */
function unreadable(
  response: Response,
  { failure, beginning }: Extract<Reading, { beginning: string | null }>,
  on: Exchange,
): HttpAnswer {
  const { status } = response;
  const { code } = failure;
  if (!changesSomething(on)) {
    return { ...failure, message: on.redactor.text(failure.message), details: detailsOf(response, on) };
  }
  const message = on.redactor.text(`${failure.message} ${carriedOut(on.call.method, status)}`);
  const unread = { code, message, ...(beginning !== null && { beginning }) };
  return { kind: 'response', response: { status, headers: redactedHeaders(response, on), body: null, unread } };
}

/**
 * Returns whether the same request may succeed later (RFC 9110, 15; RFC 8470). This applies to a timeout, a wrong
 * connection, too early, too many requests, and server errors except those that say that the request will never be
 * served. 413 counts only with `Retry-After`.
 */
function maySucceedLater({ status, headers }: Response): boolean {
  if (status >= 500) return status !== 501 && status !== 505;
  return [408, 421, 425, 429].includes(status) || (status === 413 && headers.has('retry-after'));
}

async function unexpected(response: Response, on: Exchange): Promise<HttpFailed> {
  const { status, headers } = response;
  const { call, url, redactor, now } = on;
  const redirect = changesSomething(on) ? redirectBefore(response) : undefined;
  const retryable = redirect === undefined && maySucceedLater(response);
  const wait = retryable ? retryAfterMs(headers.get('retry-after'), now) : undefined;
  const errorBody = await errorBodyOf(response);
  // Redacted as a whole: the path may contain values that its step read from a connection's answer.
  const where = redactor.text(`${call.method} ${url.origin}${url.pathname}`);
  const quote = quoteOf(errorBody, redactor);
  const before = redirect === undefined ? '' : ` ${carriedOut(call.method, redirect.status)}`;
  const message = `${where} answered ${status}${quote === '' ? '' : `: ${quote}`}${before}`;
  return {
    ...failed('unexpected_status', message, retryable),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    details: detailsOf(response, on, errorBody),
  };
}

function failed(code: string, message: string, retryable = false): HttpFailed {
  return { kind: 'failed', code, message, retryable };
}
