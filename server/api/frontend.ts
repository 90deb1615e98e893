import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../contract/config.ts';
import { ADDRESS_HEADER } from '../contract/request-headers.ts';
import { clientAddress } from './client-address.ts';
import { consoleHeaders } from './console-headers.ts';
import { answerDiscovery, isDiscoveryPath } from './discovery.ts';
import type { Frontend } from './edge.ts';
import { answerRateLimited, type NodeSurfaces, serveNode, serveSurfaces } from './node-http.ts';
import { takeRequest } from './rate.ts';
import { readTarget } from './request.ts';
import type { StaticAssets } from './static-assets.ts';
import type { Stream } from './stream.ts';

/**
 * For responses that have no policy of their own (proxy.ts): next-auth's pages, which have inline
 * styles and a form, and errors.
 */
const AUTH_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const ASSET_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";
/** A year, as browsers recommend. Subdomains are not included, because they may not be ours. */
const STRICT_TRANSPORT = 'max-age=31536000';

/** The console: the files of its build, and Next for everything else. */
export type ConsoleFrontend = Frontend & { assets?: StaticAssets };

/** Creates the handler for everything on the port: the API's surfaces, and the console for the rest. */
export function createFrontend(
  { http }: Pick<Config, 'http'>,
  surfaces: NodeSurfaces & { stream: Stream },
  console: ConsoleFrontend,
): Frontend {
  const https = http.url.startsWith('https://');
  return {
    async request(request, response) {
      if (https) response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT);
      const served = serveSurfaces(surfaces, request, response, http.trustedProxies);
      if (served) return served;
      const address = noteAddress(request, http.trustedProxies);
      const path = pathOf(request);
      if (isDiscoveryPath(path)) {
        return serveNode(asked => answerDiscovery(asked, path), request, response, http.trustedProxies);
      }
      if (path.startsWith('/api/')) {
        response.setHeader('Content-Security-Policy', AUTH_POLICY);
        if (await refused(surfaces, address, response)) return;
      } else if (isAsset(path)) {
        response.setHeaders(consoleHeaders);
        response.setHeader('Content-Security-Policy', ASSET_POLICY);
        if (await console.assets?.(path, request, response)) return;
      }
      await console.request(request, response);
    },
    upgrade: (request, socket, head) =>
      surfaces.stream.upgrade(request, socket, head) || console.upgrade(request, socket, head),
  };
}

/** Returns whether proxy.ts excludes the path besides the API's; for a missing file, Next answers with a page. */
function isAsset(path: string): boolean {
  return path.startsWith('/_next/') || path === '/favicon.ico' || path === '/icon.svg';
}

/** Returns the path as Next will see it: without escapes, dots and repeated slashes. */
function pathOf({ url }: IncomingMessage): string {
  const { pathname } = readTarget(url ?? '/');
  try {
    return decodeURIComponent(pathname).replace(/[/\\]+/g, '/');
  } catch {
    return pathname;
  }
}

/** Sets the client's address on a request before it is passed on to Next. */
function noteAddress(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = [request.headers['x-forwarded-for']].flat().join(',');
  const address = clientAddress(request.socket.remoteAddress, forwarded, trustedProxies);
  request.headers[ADDRESS_HEADER] = address;
  return address;
}

/**
 * Counts a request of next-auth's routes against the limit of its address. Returns true if it has answered with 429.
 */
async function refused({ services }: NodeSurfaces, address: string, response: ServerResponse): Promise<boolean> {
  const state = await takeRequest(services.rateLimiter, null, address);
  if (state.allowed) return false;
  answerRateLimited(response, state);
  return true;
}
