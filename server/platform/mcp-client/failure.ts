import { EgressRefused } from '../egress/egress.ts';
import { NEVER_CONNECTED } from '../http-client/failure.ts';
import type { Json } from '../json.ts';
import { retryAfterMs } from '../retry-after.ts';
import type { WireError } from './message.ts';

type Details = { unsent?: boolean; retryAfterMs?: number | undefined; status?: number; data?: Json | undefined };

/**
 * A failure of an MCP server. `message` may be shown to users; it can quote the server, so a caller that knows the
 * secrets must redact them before cutting the message. `retryable`: trying again later may help. `unsent`: the request
 * certainly did not reach a tool. `status`: the HTTP status, if that is the failure. `data`: the server's structured
 * details, which quote it like the message.
 */
export class McpFailure extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly unsent: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  readonly data: Json | undefined;
  constructor(code: string, message: string, retryable: boolean, details: Details = {}) {
    super(message);
    this.name = 'McpFailure';
    this.code = code;
    this.retryable = retryable;
    this.unsent = details.unsent ?? false;
    this.retryAfterMs = details.retryAfterMs;
    this.status = details.status;
    this.data = details.data;
  }
}

/** Returns the failure for an answer that violates the protocol; `what` completes "The MCP server's answer". */
export const invalid = (what: string) =>
  new McpFailure('mcp_invalid_response', `The MCP server's answer ${what}`, false);

/** Returns the same failure for a request that only prepared a call: no tool was called. */
export function unsent(failure: McpFailure): McpFailure {
  const { code, message, retryable, retryAfterMs, status, data } = failure;
  return new McpFailure(code, message, retryable, { unsent: true, retryAfterMs, data, ...(status ? { status } : {}) });
}

/** JSON-RPC 2.0 and MCP 2025-11-25: the codes of errors. */
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const URL_ELICITATION_REQUIRED = -32_042;
/** Returns whether the code is one of the server's own errors, which may be temporary. */
const isServerError = (code: number): boolean => code <= -32_000 && code >= -32_099;

/** Returns the failure of a request that a server answered with a JSON-RPC error. */
export function serverFailure({ code, message, data }: WireError): McpFailure {
  const details = { data };
  switch (code) {
    case INTERNAL_ERROR:
      return new McpFailure('mcp_internal_error', `The MCP server failed: ${message}`, true, details);
    case INVALID_PARAMS:
      return new McpFailure('mcp_invalid_params', `The MCP server refused the arguments: ${message}`, false, details);
    case URL_ELICITATION_REQUIRED:
      return new McpFailure(
        'mcp_elicitation_required',
        `The MCP server wants to ask a person: ${message}`,
        false,
        details,
      );
    default: {
      const text = `The MCP server answered with error ${code}: ${message}`;
      return new McpFailure('mcp_error', text, isServerError(code), details);
    }
  }
}

/** Statuses by which a server says that it did not process the message. */
const REFUSED_UNREAD = new Set([404, 405, 406, 413, 415, 429]);
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns the failure of an unsuccessful HTTP status; `said` is the error in a JSON body. */
export function statusFailure(response: Response, said: WireError | undefined, now: number): McpFailure {
  const { status } = response;
  const words = said ? `: ${said.message}` : '';
  const data = said?.data;
  if (status === 401 || status === 403) {
    const message = `The MCP server refused the credentials (HTTP ${status})${words}`;
    return new McpFailure('mcp_unauthorized', message, false, { unsent: true, status, data });
  }
  const code = status === 429 ? 'mcp_rate_limited' : status === 503 ? 'mcp_unavailable' : 'mcp_http_error';
  return new McpFailure(code, `The MCP server answered HTTP ${status}${words}`, PASSING.has(status), {
    unsent: REFUSED_UNREAD.has(status),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after'), now),
    status,
    data,
  });
}

/** Returns the system code of an error, searching `cause` and AggregateError. */
function systemCode(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > 5) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof AggregateError) return systemCode(error.errors[0], depth + 1);
  return systemCode(error.cause, depth + 1);
}

/** Returns the EgressRefused in a chain of causes. */
export function refusal(error: unknown, depth = 0): EgressRefused | undefined {
  if (error instanceof EgressRefused) return error;
  return error instanceof Error && depth < 5 ? refusal(error.cause, depth + 1) : undefined;
}

/**
 * Returns the failure of a rejected fetch. System errors are named by their code: their messages contain
 * addresses to which a name resolved.
 */
export function networkFailure(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  const refused = refusal(error);
  if (refused) return new McpFailure('egress_refused', refused.message, false, { unsent: true });
  const code = systemCode(error);
  if (code !== undefined && (code.startsWith('ERR_TLS') || code.includes('CERT') || code.startsWith('ERR_SSL'))) {
    return new McpFailure('mcp_tls_failed', `The MCP server has no valid certificate (${code})`, false, {
      unsent: true,
    });
  }
  if (code !== undefined && NEVER_CONNECTED.has(code)) {
    return new McpFailure('mcp_unreachable', `The MCP server cannot be reached (${code})`, true, { unsent: true });
  }
  return new McpFailure(
    'mcp_connection_lost',
    `The connection to the MCP server was lost (${code ?? 'network'})`,
    true,
  );
}
