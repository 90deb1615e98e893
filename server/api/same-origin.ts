import { forbidden } from '../platform/errors.ts';
import type { Headers } from './authenticate.ts';

/**
 * Returns whether a request with cookies was made by our own pages (docs/specification/authentication.md#same-origin):
 * by `Sec-Fetch-Site` if the browser sends it, otherwise by `Origin`, which must be the public URL's or the requested
 * host. A browser always sends one of them with a state-changing request, so a request with neither is refused.
 */
function isSameOrigin(header: Headers, publicUrl: string): boolean {
  const site = header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return isOwnOrigin(header, publicUrl);
}

/** Checks only `Origin`: browsers send no Sec-Fetch-Site with a WebSocket handshake over plain http. */
export function isOwnOrigin(header: Headers, publicUrl: string): boolean {
  const origin = header('origin');
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host, origin: normal } = new URL(origin);
  return normal === new URL(publicUrl).origin || host === header('host');
}

/** AppError 403 for a cookie-authenticated, state-changing request that did not come from our own pages. */
export function refuseCrossSite(header: Headers, publicUrl: string): void {
  if (!isSameOrigin(header, publicUrl)) throw forbidden('The request did not come from this site.', 'cross_site');
}
