import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../operation/config.ts';
import { ADDRESS_HEADER } from '../operation/request-headers.ts';
import { AppError } from '../platform/errors.ts';
import { clientAddress } from './client-address.ts';
import { consoleHeaders } from './console-headers.ts';
import { answerDiscovery, isDiscoveryPath } from './discovery.ts';
import type { Frontend } from './edge.ts';
import { NodeAddresses } from './forward/node-addresses.ts';
import { receiveForwarded } from './forward/received.ts';
import type { ForwardSeal } from './forward/signature.ts';
import { answerError, answerRateLimited, type NodeSurfaces, serveNode, serveSurfaces } from './node-http.ts';
import { takeRequest } from './rate.ts';
import { readTarget } from './request.ts';
import { checkConsoleRequest, checkRequestLine } from './request-target.ts';
import { refuseForeign } from './same-origin.ts';
import type { StaticAssets } from './static-assets.ts';
import type { Stream } from './stream.ts';

/**
 * For responses without their own policy (proxy.ts): next-auth's pages, which have inline
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
  const { cluster } = surfaces.services;
  const nodes = cluster && new NodeAddresses(cluster);
  return {
    ...(nodes && { isNode: (address: string) => nodes.has(address) }),
    async request(request, response) {
      if (https) response.setHeader('Strict-Transport-Security', STRICT_TRANSPORT);
      try {
        checkRequestLine(request);
        receiveForwarded(request, surfaces.forwardSeal ?? null);
        const served = serveSurfaces(surfaces, request, response, http.trustedProxies);
        if (served) return served;
        await serveConsole({ http }, surfaces, console, request, response);
      } catch (error) {
        if (!(error instanceof AppError) || response.headersSent) throw error;
        answerError(response, error);
        // The rest of the request is discarded.
        request.resume();
      }
    },
    upgrade(request, socket, head) {
      if (!isAcceptable(request, surfaces.forwardSeal ?? null)) return false;
      return surfaces.stream.upgrade(request, socket, head) || console.upgrade(request, socket, head);
    },
  };
}

/**
 * Returns whether the request line of an upgrade is valid, and who forwarded it. The edge refuses upgrades that no handler accepts.
 */
function isAcceptable(request: IncomingMessage, seal: ForwardSeal | null): boolean {
  try {
    checkRequestLine(request);
    receiveForwarded(request, seal);
    return true;
  } catch {
    return false;
  }
}

/** Serves requests that no surface of the API serves. Throws the AppError of a request that is refused. */
async function serveConsole(
  { http }: Pick<Config, 'http'>,
  surfaces: NodeSurfaces,
  console: ConsoleFrontend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = noteClient(request, http.trustedProxies);
  const path = pathOf(request);
  if (isDiscoveryPath(path)) {
    return serveNode(asked => answerDiscovery(asked, path), request, response, http.trustedProxies);
  }
  const isApi = path.startsWith('/api/');
  // The development server of Next has paths that take POST.
  checkConsoleRequest(request, { isPage: !isApi && !path.startsWith('/__next') });
  if (isApi) {
    response.setHeader('Content-Security-Policy', AUTH_POLICY);
    if (await refused(surfaces, address, response)) return;
    if (request.method !== 'GET' && request.method !== 'HEAD')
      refuseForeign(name => [request.headers[name]].flat()[0], http.url);
  } else if (isAsset(path)) {
    response.setHeaders(consoleHeaders);
    response.setHeader('Content-Security-Policy', ASSET_POLICY);
    if (await console.assets?.(path, request, response)) return;
    if (await surfaces.otherAssets?.(path, request, response)) return;
  }
  await console.request(request, response);
}

/** The files of app/ that browsers, phones and previews of links ask for by these names. */
const FILES: readonly string[] = [
  '/favicon.ico',
  '/icon.svg',
  '/apple-icon.png',
  '/opengraph-image.png',
  '/manifest.webmanifest',
  '/robots.txt',
];

/** Returns whether proxy.ts excludes the path besides the API's; for a missing file, Next answers with a page. */
function isAsset(path: string): boolean {
  return path.startsWith('/_next/') || path.startsWith('/icons/') || FILES.includes(path);
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

/**
 * Prepares a request for Next: it gets the client's address, and loses what a client may have written into it. next-auth and Next
 * believe `X-Forwarded-Host`, so that a link or a redirect could lead to any host; where the console is reached is configured
 * (BATON_URL). The scheme is trusted only behind trusted proxies.
 */
function noteClient(request: IncomingMessage, trustedProxies: number): string {
  const forwarded = [request.headers['x-forwarded-for']].flat().join(',');
  const address = clientAddress(request.socket.remoteAddress, forwarded, trustedProxies);
  request.headers[ADDRESS_HEADER] = address;
  for (const name of ['x-forwarded-host', 'x-forwarded-port', 'forwarded']) delete request.headers[name];
  if (trustedProxies === 0) delete request.headers['x-forwarded-proto'];
  return address;
}

/**
 * Counts a request of next-auth's routes against the limit of its address. Returns true if it has answered with 429.
 */
async function refused({ services }: NodeSurfaces, address: string, response: ServerResponse): Promise<boolean> {
  const state = await takeRequest(services.rateLimiter, null, { address });
  if (state.allowed) return false;
  answerRateLimited(response, state);
  return true;
}
