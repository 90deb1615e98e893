import type { HttpAnswer, HttpCall, HttpFailed, HttpResponse } from '../../orchestrator/steps/http-requester.ts';
import { BodyTooLarge } from '../../platform/egress/limit-body.ts';
import { BodyMalformed, excerptOf, readBody } from '../../platform/http-client/body.ts';
import { httpFailure } from '../../platform/http-client/failure.ts';
import { type ResponseMemory, ResponseMemoryUsedUp } from '../../platform/http-client/response-memory.ts';
import type { JsonObject } from '../../platform/json.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import type { Redactor } from '../../platform/secrets/redaction.ts';
import { storageProblem } from '../../platform/storable-json.ts';

/** docs/specification/limits.md#http-requests */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** The limit for an error response: enough for a sentence of its body. */
const MAX_ERROR_BYTES = 16 * 1024;
const MAX_QUOTE_LENGTH = 500;
const HIGHEST_STATUS = 599;
/** A single instance for all exchanges: an error with its stack for each took 4 % of a request's CPU. */
const ENDED = new DOMException('The exchange has ended.', 'AbortError');

/** A request, what sends it, and the secrets that must not come back. */
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
  const { call, redactor } = on;
  // The caller is gone: no one reads this answer.
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
    return await answerOf(response, on);
  } catch (error) {
    if (on.signal.aborted) return cancelled;
    const failure = failureOf(error, on);
    if (failure === undefined) throw error;
    return { ...failure, message: redactor.text(failure.message) };
  } finally {
    // Aborting closes the connection of a body that was not read to its end.
    ended.abort(ENDED);
  }
}

function failureOf(error: unknown, { url }: Exchange): HttpFailed | undefined {
  if (error instanceof ResponseMemoryUsedUp) return failed('response_memory_used_up', error.message, true);
  if (error instanceof BodyMalformed) return failed('response_malformed', `The body of ${url.host} ${error.message}.`);
  const failure = httpFailure(error, url.host);
  return failure && { kind: 'failed', ...failure };
}

async function answerOf(response: Response, on: Exchange): Promise<HttpAnswer> {
  const { status } = response;
  if (status > HIGHEST_STATUS) {
    return failed('response_malformed', `${on.url.host} answered with the status ${status}, which HTTP does not have.`);
  }
  if (!on.call.expects(status)) return unexpected(response, on);
  const bytes = await readBytes(response, on);
  const read = readBody(bytes, response.headers.get('content-type'));
  return storable({ status, headers: headersOf(response), ...read }, on);
}

/** Checked before redacting and serializing, which recurse. */
function storable({ status, headers, body, encoding }: HttpResponse, { redactor }: Exchange): HttpAnswer {
  const problem = storageProblem({ headers, body });
  if (problem !== null) return failed('result_not_storable', `${problem.path} of the response ${problem.message}.`);
  const clean = redactor.json({ headers, body }) as JsonObject;
  const redacted = { headers: clean.headers as HttpResponse['headers'], body: clean.body ?? null };
  return { kind: 'response', response: { status, ...redacted, ...(encoding && { encoding }) } };
}

/** Joins repeated headers into a list (RFC 9110, 5.3), except cookies, which contain commas: one per line. */
function headersOf({ headers }: Response): Record<string, string> {
  const all = new Map<string, string>();
  for (const [name, value] of headers) {
    const before = all.get(name);
    all.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  return Object.fromEntries(all);
}

/** Counts the decoded bytes of a body, so that a small compressed response cannot become a huge one. */
async function readBytes({ body, status }: Response, { call, memory }: Exchange): Promise<Uint8Array> {
  if (body === null || status === 204) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let taken = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > MAX_RESPONSE_BYTES) throw new BodyTooLarge(MAX_RESPONSE_BYTES);
      memory.take(call.tenantId, chunk.byteLength);
      taken = size;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    memory.free(call.tenantId, taken);
  }
}

async function unexpected(response: Response, on: Exchange): Promise<HttpFailed> {
  const { status, headers } = response;
  const { call, url, redactor, now } = on;
  const retryable = status === 408 || status === 429 || status >= 500;
  const wait = retryable ? retryAfterMs(headers.get('retry-after'), now) : undefined;
  const said = await quoteOf(response, redactor);
  // Redacted as a whole: the path may contain what its step took from a connection's answer.
  const where = redactor.text(`${call.method} ${url.origin}${url.pathname}`);
  const message = `${where} answered ${status}${said === '' ? '' : `: ${said}`}`;
  return { ...failed('unexpected_status', message, retryable), ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}

/** Returns the beginning of a response; nothing of an HTML page. A body that breaks off counts as empty. */
async function quoteOf({ body }: Response, redactor: Redactor): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, MAX_ERROR_BYTES - size));
      size += chunk.byteLength;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    return '';
  }
  // Cut after redacting: the first half of a secret is secret too.
  const text = redactor.text(excerptOf(Buffer.concat(chunks)));
  if (text.startsWith('<')) return '';
  return text.length <= MAX_QUOTE_LENGTH ? text : `${text.slice(0, MAX_QUOTE_LENGTH)}…`;
}

function failed(code: string, message: string, retryable = false): HttpFailed {
  return { kind: 'failed', code, message, retryable };
}
