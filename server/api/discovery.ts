import { AppError } from '../platform/errors.ts';
import { errorBody } from './failure.ts';
import { type ApiRequest, type ApiResponse, protectiveHeaders, requestIdOf } from './request.ts';

/**
 * The paths at which MCP clients look for an authorization server without being told to (MCP specification 2025-03-26,
 * Authorization).
 */
const OAUTH = /^\/(authorize|token|register|revoke|introspect)\/?$/;

const NO_OAUTH =
  'Baton has no authorization server: send a personal access token (Settings, API keys) as Authorization: Bearer pat_….';
const NO_DOCUMENT = 'There is no document at this path.';

/**
 * Returns whether programs look at this path for a description of the service, or for an authorization server. Neither exists
 * here. The console's 404 page would appear as an error message in the user's client.
 */
export function isDiscoveryPath(path: string): boolean {
  return /^\/\.well-known(\/|$)/.test(path) || OAUTH.test(path);
}

/** Answers 404 with the API's error body, and with the field of OAuth's (RFC 6749, 5.2) that clients show. */
export async function answerDiscovery({ header, method }: ApiRequest, path: string): Promise<ApiResponse> {
  const requestId = requestIdOf(header);
  const isOAuth = OAUTH.test(path) || /^\/\.well-known\/(oauth|openid)-/.test(path);
  const error = new AppError(404, 'not_found', isOAuth ? NO_OAUTH : NO_DOCUMENT);
  const body = { ...errorBody(error, requestId), ...(isOAuth ? { error_description: error.message } : {}) };
  return {
    status: error.status,
    headers: { ...protectiveHeaders, 'X-Request-Id': requestId, 'Content-Type': 'application/json; charset=utf-8' },
    body: method === 'HEAD' ? null : JSON.stringify(body),
  };
}
