import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { CheckScope, StepProblem } from '../../ports/step-type.ts';

/** How the credentials of a connection are sent (docs/specification/steps.md#credentials-of-a-request). */
export type HttpAuth =
  | { type: 'bearer' }
  | { type: 'basic' }
  | { type: 'header'; name?: string | undefined; credential?: string | undefined }
  | { type: 'query'; name: string; credential?: string | undefined };

/** The credentials of a request. Without `auth`, the names of the credentials decide how they are sent. */
export type HttpCredentials = { connectionId: string; auth?: HttpAuth | undefined };

/** One request of an `http_request` step, with all fields rendered. */
export type HttpCall = {
  tenantId: string;
  projectId: string;
  method: string;
  url: string;
  /** The names are in lower case. */
  headers: ReadonlyMap<string, string>;
  body: string | FormData | null;
  credentials: HttpCredentials | null;
  followRedirects: boolean;
  /** How the body of the response is read. */
  response: 'auto' | 'json' | 'text' | 'bytes';
  /** Whether a status counts as success. */
  expects(status: number): boolean;
};

/** Why the body of a response could not be read, with its beginning as text. */
export type UnreadBody = { code: string; message: string; beginning?: string };

/**
 * A response with an expected status. `encoding`: the body is base64, because it is not text. `unread`: the request was
 * carried out but its body could not be read, so `body` is null.
 */
export type HttpResponse = {
  status: number;
  /** The names are in lower case. Several headers of the same name are joined. */
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
  /** The parts of the response that arrived: `status`, `headers`, and `body` or its beginning. */
  details?: JsonMap;
};

export type HttpAnswer = { kind: 'response'; response: HttpResponse } | HttpFailed;

/** The port through which `http_request` sends requests. The domain of HTTP requests provides it. */
export type HttpRequester = {
  /**
   * Returns the problems of a step that sends these credentials to `url`. `url` is null if a template decides the
   * origin.
   */
  check(scope: CheckScope, call: { url: string | null; credentials: HttpCredentials | null }): Promise<StepProblem[]>;
  /**
   * Sends one request, following redirects. After `signal` aborts, ends the connection and resolves soon. Values of the
   * connection's credentials are redacted from everything that it returns.
   */
  send(call: HttpCall, on: { signal: AbortSignal }): Promise<HttpAnswer>;
};
