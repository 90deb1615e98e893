import { HOUR_MS } from '../clock.ts';
import { EgressRefused } from '../egress/egress.ts';
import { ModelAnswerTooLarge } from './bounded-fetch.ts';
import { codeOf, NotAStream, reportsError, statusOf, textOf } from './provider-errors.ts';
import { type ModelProvider, providerFacts } from './providers.ts';

/** The reason for a missing answer. `message` is for people, and quotes at most 500 characters of the provider's error. */
export type ModelFailure = {
  kind: 'failed';
  code: string;
  message: string;
  /** Whether the same question may be answered later. */
  retryable: boolean;
  /** How long the provider asks to wait, in ms. */
  retryAfterMs?: number;
  /** The request exceeds the model's context length. */
  tooLong?: true;
};

/** Enough for a sentence from the provider; a whole page would not help. */
const MAX_QUOTE_LENGTH = 500;
/** The maximum delay that a provider may request; a step should not wait longer than an hour. */
const MAX_WAIT_MS = HOUR_MS;

/** The known facts of a refusal, whether it came as a status or in the middle of a stream. */
type Refusal = {
  status: number | undefined;
  quote: string;
  headers: Readonly<Record<string, string>>;
  /** Whether the library considers the failure temporary. */
  passes: boolean;
  code: string | undefined;
};

/**
 * Classifies an error on the way to a model. Accepts errors of the AI SDK, the egress guard and fetch, all of which
 * wrap each other; `now` is ms since the epoch, for a Retry-After that is a date. Returns undefined for an unknown
 * error, which is a defect.
 */
export function modelFailure(
  error: unknown,
  about: { provider: ModelProvider; now: number },
): ModelFailure | undefined {
  const chain = causes(error);
  const server = providerFacts[about.provider].name;
  const fail = (code: string, message: string, retryable: boolean): ModelFailure => ({
    kind: 'failed',
    code,
    message,
    retryable,
  });
  for (const cause of chain) {
    if (cause instanceof ModelAnswerTooLarge) {
      return fail('model_answer_too_large', `The answer of ${server} was cut off: ${cause.message}.`, false);
    }
    if (cause instanceof NotAStream) return notAStream(cause, server, about.now);
    if (cause instanceof EgressRefused) return fail(cause.code, cause.message, false);
  }
  const refusal = refusalIn(chain);
  if (refusal !== undefined) return refused(refusal, server, about.now);
  if (chain.some(isNetworkError)) {
    const code = chain.map(networkCode).find(found => found !== undefined);
    return fail('model_unavailable', `${server} could not be reached${code ? ` (${code})` : ''}.`, true);
  }
  const name = chain.map(nameOf).find(each => named.malformed.has(each) || named.unsuited.has(each)) ?? '';
  if (chain.some(isCutOff))
    return fail('model_unavailable', `${server} broke off before the answer was complete.`, true);
  if (named.malformed.has(name)) {
    return fail('model_answer_malformed', `${server} sent an answer that cannot be read.`, true);
  }
  if (named.unsuited.has(name)) return fail('model_request_invalid', quoteReason(messageOf(chain[0])), false);
  return undefined;
}

/** Names that the AI SDK gives its errors: they are part of its interface, the classes may come from several copies. */
const named = {
  malformed: new Set([
    'AI_JSONParseError',
    'AI_TypeValidationError',
    'AI_InvalidResponseDataError',
    'AI_EmptyResponseBodyError',
    'AI_NoOutputGeneratedError',
    'AI_NoContentGeneratedError',
  ]),
  unsuited: new Set([
    'AI_UnsupportedFunctionalityError',
    'AI_InvalidArgumentError',
    'AI_InvalidPromptError',
    'AI_NoSuchModelError',
  ]),
};

/** Returns the failure of an answer that is not a stream: a proxy, or a server without streaming, may send errors with status 200. */
function notAStream({ body }: NotAStream, server: string, now: number): ModelFailure {
  if (reportsError(body)) {
    const quote = quoteReason(textOf(body) ?? '');
    return refused({ status: statusOf(body), quote, headers: {}, passes: true, code: codeOf(body) }, server, now);
  }
  const what = body === undefined ? 'a page: is the base URL right?' : 'JSON: is streaming switched off?';
  const message = `${server} did not answer with a stream, but with ${what}`;
  return { kind: 'failed', code: 'model_answer_malformed', message, retryable: true };
}

function refused(refusal: Refusal, server: string, now: number): ModelFailure {
  const { status, quote, passes } = refusal;
  const answered = status === undefined ? `${server} broke off` : `${server} answered ${status}`;
  const failure = (code: string, message: string, retryable: boolean): ModelFailure => {
    const wait = retryable ? retryAfterMs(refusal.headers, now) : undefined;
    return { kind: 'failed', code, message, retryable, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
  };
  const text = quote === '' ? `${answered}.` : `${answered}: ${quote}`;
  // The body of a 401 is not quoted: some providers repeat parts of the key.
  if (status === 401) return failure('model_unauthorized', `${server} does not accept the API key (401).`, false);
  if (status === 403) return failure('model_unauthorized', text, false);
  if (status === 404) return failure('model_not_found', text, false);
  if (refusal.code === 'insufficient_quota') return failure('model_quota_exhausted', text, false);
  if (status === 429) return failure('model_rate_limited', text, true);
  if (status === 408 || status === 409 || (status !== undefined && status >= 500)) {
    return failure('model_unavailable', text, true);
  }
  if (status !== undefined && status >= 300 && status < 400) {
    return failure('model_request_invalid', `${answered}, a redirect: is the base URL right?`, false);
  }
  const tooLong = isTooLong(refusal) ? { tooLong: true as const } : {};
  if (status !== undefined && status >= 400) return { ...failure('model_request_invalid', text, false), ...tooLong };
  // The stream began and then broke off without a status: most of these failures are temporary.
  if (status === undefined) return { ...failure('model_unavailable', text, true), ...tooLong };
  return failure('model_answer_malformed', `${server} sent an answer that cannot be read.`, passes);
}

/**
 * Returns whether the context was too long. Providers use their own codes, or only a message: Anthropic, Google, Mistral, vLLM,
 * in this order.
 */
function isTooLong({ code, quote }: Refusal): boolean {
  const codes = ['context_length_exceeded', 'exceed_context_size_error', 'request_too_large'];
  const words =
    /prompt is too long|exceed context limit|input token count .{0,40}exceeds|too large for model|maximum context length|context (window|length|size)/i;
  return codes.includes(code ?? '') || words.test(quote);
}

function refusalIn(chain: readonly unknown[]): Refusal | undefined {
  for (const cause of chain) {
    const name = nameOf(cause);
    const fields = cause as {
      statusCode?: unknown;
      isRetryable?: unknown;
      responseHeaders?: unknown;
      responseBody?: unknown;
    };
    const status = typeof fields.statusCode === 'number' ? fields.statusCode : undefined;
    const isCall = name === 'AI_APICallError';
    // A call without a status got no answer. Its cause gives the reason.
    if (isCall && status === undefined) continue;
    if (isCall && status === 200) return { status, quote: '', headers: {}, passes: true, code: undefined };
    // The library treats an event that is not part of an answer, such as Mistral's errors, as an invalid event.
    const invalid = name === 'AI_TypeValidationError' ? Reflect.get(fields, 'value') : undefined;
    const isReported = reportsError(invalid);
    const streamed = name === 'AI_StreamProviderError' || !(cause instanceof Error) || isReported;
    if (!isCall && !streamed) continue;
    if (streamed && messageOf(cause) === '') continue;
    const body = isReported ? invalid : (bodyOf(fields.responseBody) ?? dataOf(cause));
    return {
      status: status ?? statusOf(body),
      quote: quoteReason(textOf(body) ?? (isReported ? '' : messageOf(cause))),
      headers: isHeaders(fields.responseHeaders) ? fields.responseHeaders : {},
      passes: fields.isRetryable === true,
      code: codeOf(body),
    };
  }
  return undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isHeaders = (value: unknown): value is Record<string, string> => isRecord(value);
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const messageOf = (error: unknown): string =>
  isRecord(error) && typeof error.message === 'string' ? error.message : typeof error === 'string' ? error : '';
const dataOf = (error: unknown): unknown => (isRecord(error) ? (error.data ?? error) : undefined);

function bodyOf(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a quotation of a provider's error for a message. */
export function quoteReason(text: string): string {
  // An HTML page does not contain the provider's message.
  if (/^\s*</.test(text)) return '';
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_QUOTE_LENGTH ? line : `${line.slice(0, MAX_QUOTE_LENGTH)}…`;
}

/** Returns an error and its causes, outermost first; at most ten, because causes may be circular. */
function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let cause: unknown = error; cause !== undefined && cause !== null && chain.length < 10; ) {
    chain.push(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return chain;
}

/** The library of OpenAI-compatible servers reports a stream without an end as invalid data, which it does not have. */
const isCutOff = (error: unknown): boolean =>
  nameOf(error) === 'AI_InvalidResponseDataError' && Reflect.get(error as object, 'data') === undefined;

function networkCode(error: unknown): string | undefined {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? code : undefined;
}

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (networkCode(error) !== undefined) return true;
  // fetch says `fetch failed` before an answer and `terminated` within one; its own timeout is an AbortError.
  return (
    (error instanceof TypeError && /^(fetch failed|terminated)/i.test(error.message)) ||
    error.name === 'AbortError' ||
    error.name === 'TimeoutError'
  );
}

/**
 * Returns the time that a provider asks to wait: `retry-after-ms`, or `Retry-After` in seconds or as an HTTP date (RFC 9110,
 * 10.2.3).
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const find = (wanted: string) =>
    Object.entries(headers)
      .find(([name]) => name.toLowerCase() === wanted)?.[1]
      ?.trim();
  const exact = find('retry-after-ms');
  const general = find('retry-after');
  const wait =
    exact !== undefined && /^\d+(\.\d+)?$/.test(exact)
      ? Number(exact)
      : general === undefined
        ? Number.NaN
        : /^\d+(\.\d+)?$/.test(general)
          ? Number(general) * 1000
          : Date.parse(general) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(0, Math.ceil(wait)), MAX_WAIT_MS) : undefined;
}
