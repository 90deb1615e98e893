import { UNSAFE_METHODS } from '../../orchestrator/steps/http-request/fields.ts';
import type { HttpFailed, HttpResponse } from '../../orchestrator/steps/http-request/http-requester.ts';
import { BodyTooLarge } from '../../platform/egress/limit-body.ts';
import { beginningOf, excerptOf, readBody } from '../../platform/http-client/body.ts';
import type { Json, JsonObject } from '../../platform/json.ts';
import type { Redactor } from '../../platform/secrets/redaction.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import type { Exchange } from './exchange.ts';

/** docs/specification/limits.md#http-requests */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** The maximum number of bytes of an error response: enough for a sentence of its body. */
const MAX_ERROR_BYTES = 16 * 1024;
const MAX_QUOTE_LENGTH = 500;
/**
 * The maximum number of bytes of a body in the details of an error, which are at most 16 KiB (server/orchestrator/turn/outcome.ts).
 */
const MAX_DETAILS_BODY_BYTES = 6 * 1024;
const MAX_DETAILS_HEADERS_BYTES = 5 * 1024;
/** The maximum number of characters of the beginning of a body that could not be read. */
const MAX_BEGINNING_LENGTH = 64 * 1024;
/** A character takes at most six bytes of JSON, so a smaller body always fits in a result. */
const SURELY_FITS_BYTES = MAX_RESPONSE_BYTES / 8;

type ResponseScope = Pick<Exchange, 'call' | 'redactor' | 'memory' | 'url'>;

/**
 * A response, or the reason why its body could not be read. `beginning` is the beginning of that body if it is text.
 */
export type Reading = { failure: null; response: HttpResponse } | { failure: HttpFailed; beginning: string | null };

/** Reads the body of a response. `failureOf` maps an error to a failure, and rethrows errors that are bugs. */
export async function readResponse(
  response: Response,
  on: ResponseScope,
  failureOf: (error: unknown) => HttpFailed,
): Promise<Reading> {
  const { bytes, error } = await readBytes(response, on);
  const type = response.headers.get('content-type');
  const unreadable = (failure: HttpFailed): Reading => {
    const text = beginningOf(bytes, type);
    // Cut after redacting: the first half of a secret is secret too.
    const beginning = text === null ? null : truncate(on.redactor.text(text), MAX_BEGINNING_LENGTH);
    return { failure, beginning };
  };
  if (error !== null) return unreadable(failureOf(error));
  try {
    const { status } = response;
    const read = toStorable({ status, headers: headersOf(response), ...readBody(bytes, type, on.call.response) }, on);
    if ('kind' in read) return unreadable(read);
    // The engine would refuse a result that is too large, and the run could not tell that the request had changed
    // something.
    const isKept = bytes.byteLength <= SURELY_FITS_BYTES || !UNSAFE_METHODS.has(on.call.method) || fitsInResult(read);
    return isKept ? { failure: null, response: read } : unreadable(failureOf(new BodyTooLarge(MAX_RESPONSE_BYTES)));
  } catch (thrown) {
    return unreadable(failureOf(thrown));
  }
}

/** Results are stored as JSON, and escaping can make a text larger. */
const fitsInResult = (response: HttpResponse) => Buffer.byteLength(JSON.stringify(response)) <= MAX_RESPONSE_BYTES;

/** Checks a response before it is redacted and serialized, because both recurse. */
function toStorable(
  { status, headers, body, encoding }: HttpResponse,
  { redactor }: ResponseScope,
): HttpResponse | HttpFailed {
  const problem = storageProblem({ headers, body });
  if (problem !== null) {
    const message = `${problem.path} of the response ${problem.message}.`;
    return { kind: 'failed', code: 'result_not_storable', message, retryable: false };
  }
  const clean = redactor.json({ headers, body }) as JsonObject;
  const redacted = { headers: clean.headers as HttpResponse['headers'], body: clean.body ?? null };
  return { status, ...redacted, ...(encoding && { encoding }) };
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

/** Returns the headers of a response without secrets, as they are put into a result. */
export function redactedHeaders(response: Response, { redactor }: ResponseScope): Record<string, string> {
  return redactor.json(headersOf(response)) as Record<string, string>;
}

/** Returns the status, the headers and, if it is small, the body of a response, for the error of a step. */
export function detailsOf(
  response: Response,
  on: ResponseScope,
  bytes?: Uint8Array,
): { status: number; headers: Record<string, string>; body?: Json } {
  const headers = shortestHeaders(redactedHeaders(response, on), MAX_DETAILS_HEADERS_BYTES);
  const body = bytes === undefined ? null : errorBody(bytes, response.headers.get('content-type'), on.redactor);
  return { status: response.status, headers, ...(body !== null && { body }) };
}

/** Returns as many headers as fit, shortest first: long headers, such as policies and cookies, explain an error least. */
function shortestHeaders(headers: Record<string, string>, maxBytes: number): Record<string, string> {
  const size = (entry: [string, string]) => Buffer.byteLength(JSON.stringify(entry));
  let left = maxBytes;
  const kept = Object.entries(headers)
    .sort((a, b) => size(a) - size(b))
    .filter(entry => {
      left -= size(entry);
      return left >= 0;
    });
  return Object.fromEntries(kept);
}

/** Returns a small body as JSON or text; null for any other body. */
function errorBody(bytes: Uint8Array, type: string | null, redactor: Redactor): Json {
  try {
    const { body, encoding } = readBody(bytes, type);
    if (encoding !== undefined || storageProblem(body) !== null) return null;
    const clean = redactor.json(body);
    if (Buffer.byteLength(JSON.stringify(clean)) <= MAX_DETAILS_BODY_BYTES) return clean;
    return typeof clean === 'string' ? truncate(clean, MAX_DETAILS_BODY_BYTES / 8) : null;
  } catch {
    // A truncated body, or one that does not match its content type, explains nothing.
    return null;
  }
}

/**
 * Reads a body. The limit applies to decoded bytes, so that a small compressed response cannot become a huge one. After an error,
 * the bytes that arrived before it are returned too.
 */
async function readBytes(
  { body, status }: Response,
  { call, memory }: ResponseScope,
): Promise<{ bytes: Uint8Array; error: unknown }> {
  if (body === null || status === 204) return { bytes: new Uint8Array(), error: null };
  const chunks: Uint8Array[] = [];
  let size = 0;
  let taken = 0;
  let error: unknown = null;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > MAX_RESPONSE_BYTES) throw new BodyTooLarge(MAX_RESPONSE_BYTES);
      memory.take(call.tenantId, chunk.byteLength);
      taken = size;
      chunks.push(chunk);
    }
  } catch (thrown) {
    error = thrown;
  } finally {
    memory.free(call.tenantId, taken);
  }
  return { bytes: Buffer.concat(chunks), error };
}

/** Returns the first bytes of an error response; no bytes if the body is truncated. */
export async function errorBodyOf({ body }: Response): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, MAX_ERROR_BYTES - size));
      size += chunk.byteLength;
      if (size >= MAX_ERROR_BYTES) break;
    }
  } catch {
    return new Uint8Array();
  }
  return Buffer.concat(chunks);
}

/** Returns the beginning of an error response as one line; an empty text for an HTML page. */
export function quoteOf(bytes: Uint8Array, redactor: Redactor): string {
  // Cut after redacting: the first half of a secret is secret too.
  const text = redactor.text(excerptOf(bytes));
  if (text.startsWith('<')) return '';
  return text.length <= MAX_QUOTE_LENGTH ? text : `${truncate(text, MAX_QUOTE_LENGTH)}…`;
}

/** Returns the first characters of a text, without splitting a surrogate pair. */
function truncate(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
