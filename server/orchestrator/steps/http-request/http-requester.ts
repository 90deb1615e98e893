import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** How the credentials of a connection are sent (docs/specification/steps.md#credentials-of-a-request). */
export type HttpAuth =
  | { type: 'bearer' }
  | { type: 'basic' }
  | { type: 'header'; name?: string | undefined; credential?: string | undefined }
  | { type: 'query'; name: string; credential?: string | undefined };

/** Which credentials a request carries. Without `auth` the names of the credentials decide. */
export type HttpCredentials = { connectionId: string; auth?: HttpAuth | undefined };

/** One request of an `http_request` step; everything in it is rendered. */
export type HttpCall = {
  tenantId: string;
  projectId: string;
  method: string;
  url: string;
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>;
  body: string | FormData | null;
  credentials: HttpCredentials | null;
  followRedirects: boolean;
  /** How the body of the response is read. */
  response: 'auto' | 'json' | 'text' | 'bytes';
  /** Whether a status counts as success. */
  expects(status: number): boolean;
};

/** Why the body of a response could not be read, and its beginning as text. */
export type UnreadBody = { code: string; message: string; beginning?: string };

/**
 * A response whose status was expected. `encoding` says that the body is base64, because it is no text. `unread` says that
 * the request has been carried out, but the body could not be read; it is null then.
 */
export type HttpResponse = {
  status: number;
  /** Lower-case names; several headers of one name are joined. */
  headers: Record<string, string>;
  body: JsonValue;
  encoding?: 'base64';
  unread?: UnreadBody;
};

export type HttpFailed = {
  kind: 'failed';
  code: string;
  message: string;
  retryable: boolean;
  retryAfterMs?: number | undefined;
  /** The response, as far as there was one: `status`, `headers`, and `body` or its beginning. */
  details?: JsonMap;
};

export type HttpAnswer = { kind: 'response'; response: HttpResponse } | HttpFailed;

/** The port through which `http_request` sends requests; the domain of HTTP requests provides it. */
export type HttpRequester = {
  /** Returns what is wrong with a step that sends these credentials to `url`; null where a template decides the origin. */
  check(scope: CheckScope, call: { url: string | null; credentials: HttpCredentials | null }): Promise<StepProblem[]>;
  /**
   * Sends one request, following redirects. Resolves soon after `signal` aborts, having ended the connection. Values of the
   * connection's credentials are redacted from everything it returns.
   */
  send(call: HttpCall, on: { signal: AbortSignal }): Promise<HttpAnswer>;
};
