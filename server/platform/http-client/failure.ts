import { EgressRefused } from '../egress/egress.ts';
import { BodyTooLarge } from '../egress/limit-body.ts';
import { TooManyRedirects } from '../egress/redirects.ts';

/** Why a request failed. `message` may be shown once secrets are redacted from it. */
export type HttpFailure = { code: string; message: string; retryable: boolean };

/** Errors of a connection that was never established, so nothing was sent. */
export const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** A chain of fetch's causes has two or three errors. */
const DEEPEST_CAUSE = 6;

/**
 * Classifies an error of a request to `host`. Returns undefined for an error that neither fetch nor the egress guard throws: a
 * defect. System errors are named only by their code: their messages contain the addresses to which a name resolved.
 */
export function httpFailure(error: unknown, host: string): HttpFailure | undefined {
  const chain = causesOf(error);
  for (const cause of chain) {
    if (cause instanceof EgressRefused || cause instanceof TooManyRedirects) {
      return { code: cause.code, message: cause.message, retryable: false };
    }
    if (cause instanceof BodyTooLarge) {
      return { code: 'response_too_large', message: `The response of ${host}: ${cause.message}`, retryable: false };
    }
  }
  if (chain.some(isParserError)) return malformed(host, 'HTTPParserError');
  const code = chain.map(codeOf).find(found => found !== undefined);
  if (code === undefined) return chain.some(isOfFetch) ? connectionLost(host, 'network') : undefined;
  return failureOfCode(code, host);
}

function failureOfCode(code: string, host: string): HttpFailure {
  if (code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code.includes('CERT')) {
    return { code: 'http_tls_failed', message: `${host} has no valid certificate (${code}).`, retryable: false };
  }
  if (NEVER_CONNECTED.has(code)) {
    return { code: 'http_unreachable', message: `${host} cannot be reached (${code}).`, retryable: true };
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    const message = `The headers of ${host}'s response are larger than 16 KiB.`;
    return { code: 'response_headers_too_large', message, retryable: false };
  }
  // Z_BUF_ERROR is a truncated compressed body: the connection was lost.
  if (/^(Z_|ERR_.*BROTLI|ERR__ERROR_FORMAT)/.test(code) && code !== 'Z_BUF_ERROR') return malformed(host, code);
  return connectionLost(host, code);
}

const malformed = (host: string, why: string): HttpFailure => ({
  code: 'response_malformed',
  message: `${host} sent a response that cannot be read (${why}).`,
  retryable: false,
});

const connectionLost = (host: string, code: string): HttpFailure => ({
  code: 'http_connection_lost',
  message: `The connection to ${host} was lost (${code}).`,
  retryable: true,
});

/** Returns an error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < DEEPEST_CAUSE; ) {
    chain.push(at);
    at = at instanceof AggregateError && at.errors.length > 0 ? at.errors[0] : at.cause;
  }
  return chain;
}

function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
}

/** undici's parser errors have a name but no code. A body that ends too early means that the connection was lost. */
const isParserError = ({ name, message }: Error) =>
  name === 'HTTPParserError' && !message.includes('Invalid EOF state');

/** Returns whether the error is from fetch: `fetch failed` before a response, `terminated` within one. */
const isOfFetch = (error: Error) => error instanceof TypeError && /^(fetch failed|terminated)/i.test(error.message);
