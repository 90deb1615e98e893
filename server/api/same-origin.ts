import { forbidden } from '../platform/errors.ts';
import type { Headers } from './authenticate.ts';

/**
 * Returns whether our own pages made a request (docs/specification/authentication.md#same-origin), by `Sec-Fetch-Site` and by
 * `Origin`, which must be the public URL's or the requested host. If a request has both, they must agree: a single one may come
 * from a proxy or an extension. Browsers always send one of them with a state-changing request.
 */
function senderOf(header: Headers, publicUrl: string): 'own' | 'foreign' | 'unknown' {
  const site = header('sec-fetch-site');
  const origin = header('origin');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'foreign';
  if (origin !== undefined) return isOwn(origin, header('host'), publicUrl) ? 'own' : 'foreign';
  return site === undefined ? 'unknown' : 'own';
}

function isOwn(origin: string, requestedHost: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { host, origin: normal } = new URL(origin);
  return normal === new URL(publicUrl).origin || host === requestedHost;
}

/** Throws AppError 403 for a cookie-authenticated, state-changing request that was not sent by our own pages. */
export function refuseCrossSite(header: Headers, publicUrl: string): void {
  if (senderOf(header, publicUrl) !== 'own') throw crossSite();
}

/** Refuses like `refuseCrossSite`. A WebSocket handshake must have an `Origin`, because over http browsers send no other header. */
export function refuseForeignSocket(header: Headers, publicUrl: string): void {
  if (header('origin') === undefined) throw crossSite();
  refuseCrossSite(header, publicUrl);
}

/**
 * Throws AppError 403 for a request whose headers name another origin; clients that are not browsers send no such headers. Used
 * for the forms of next-auth: their own CSRF token does not keep another site from signing its visitor in.
 */
export function refuseForeign(header: Headers, publicUrl: string): void {
  if (senderOf(header, publicUrl) === 'foreign') throw crossSite();
}

const crossSite = () => forbidden('The request did not come from this site.', 'cross_site');
