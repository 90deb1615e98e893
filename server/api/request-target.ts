import type { IncomingMessage } from 'node:http';
import { AppError, badRequest } from '../platform/errors.ts';

/** The methods that routes have. TRACE is refused because it returns the headers of a request, including cookies, to the sender. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const PAGE_METHODS = ['GET', 'HEAD'];

type Line = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/**
 * Checks the first line of a request and its host before any surface or Next reads them: they parse them differently, and Next
 * fails with a stack trace if it cannot. Throws AppError 400 `malformed_target` for a target that is not a path of this server
 * (RFC 9112, 3.2: absolute, authority or asterisk form), 400 `malformed_host`, and 405 `method_not_allowed`.
 */
export function checkRequestLine({ method = '', url: target = '', headers }: Line): void {
  if (!METHODS.includes(method)) throw notAllowed(method, METHODS);
  // A second slash begins an authority: `//elsewhere/path` is a path to some readers and another host to others.
  if (!/^\/(?![/\\])/.test(target))
    throw badRequest('The target of the request must be a path of this server.', 'malformed_target');
  if (headers.host !== undefined && !isHost(headers.host))
    throw badRequest('The header Host must be a host and its port.', 'malformed_host');
}

/**
 * Checks a request that Next will answer; the API's router checks the API's requests. Throws AppError 400 `malformed_path`, and
 * for a page or a file of the build 405 `method_not_allowed`.
 */
export function checkConsoleRequest(
  { method = '', url: target = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  { isPage }: { isPage: boolean },
): void {
  if (!isDecodable(target)) throw badRequest('The path contains a malformed percent escape.', 'malformed_path');
  if (isPage && !PAGE_METHODS.includes(method)) throw notAllowed(method, PAGE_METHODS);
}

const notAllowed = (method: string, allowed: readonly string[]) =>
  new AppError(405, 'method_not_allowed', `This path does not support ${method}.`, {
    headers: { Allow: allowed.join(', ') },
  });

/** Returns whether the percent escapes of the path are valid UTF-8. */
function isDecodable(target: string): boolean {
  const path = target.split(/[?#]/, 1)[0] ?? '';
  if (!path.includes('%')) return true;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether the text is only a host, with or without a port. An empty one is allowed (RFC 9110, 7.2). */
const isHost = (host: string): boolean => host === '' || (!/[\s/\\?#@%]/.test(host) && URL.canParse(`http://${host}`));
