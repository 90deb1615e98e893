import { type NextRequest, NextResponse } from 'next/server';
import { container } from './app/container.ts';
import { contentSecurityPolicy } from './app/content-security-policy.ts';
import { NONCE_HEADER, PATH_HEADER } from './app/page-headers.ts';

/**
 * Gives each page a Content-Security-Policy with a nonce of its own. Next puts the nonce on its scripts when it finds the policy in the
 * request.
 */
export function proxy(request: NextRequest): NextResponse {
  const nonce = crypto.randomUUID().replaceAll('-', '');
  const policy = contentSecurityPolicy({
    nonce,
    development: process.env.NODE_ENV === 'development',
    stripe: paysAtStripe(),
  });
  const headers = new Headers(request.headers);
  headers.set(NONCE_HEADER, nonce);
  // A layout is not told where it is; sign-in needs to know where to return.
  headers.set(PATH_HEADER, `${request.nextUrl.pathname}${request.nextUrl.search}`);
  headers.set('content-security-policy', policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('content-security-policy', policy);
  return response;
}

/** False without the service, as in Next alone. */
function paysAtStripe(): boolean {
  const running = Reflect.has(globalThis, Symbol.for('baton.container'));
  return running && container().services.config.billing.stripe !== null;
}

export const config = {
  matcher: [
    {
      source:
        '/((?!api/|v1/|mcp$|mcp/|healthz$|readyz$|metrics$|_next/static|_next/image|icons/|icon.svg$|favicon.ico$|apple-icon.png$|opengraph-image.png$|manifest.webmanifest$|robots.txt$).*)',
      // The router's own prefetches are data, not pages. A browser's (`Purpose: prefetch`) becomes the page, and needs the policy.
      missing: [{ type: 'header', key: 'next-router-prefetch' }],
    },
  ],
};
