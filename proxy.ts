import { type NextRequest, NextResponse } from 'next/server';

/**
 * Gives each page a Content-Security-Policy with a nonce of its own: no script runs but ours, no eval, no framing. Next
 * puts the nonce on its scripts when it finds the policy in the request. Styles may be inline: the graph canvas and the
 * menus place themselves with style attributes, which a nonce cannot cover.
 */
export function proxy(request: NextRequest): NextResponse {
  const nonce = crypto.randomUUID().replaceAll('-', '');
  const development = process.env.NODE_ENV === 'development';
  const policy = [
    "default-src 'self'",
    // React's development build rebuilds server stacks with eval; production uses none.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
  const headers = new Headers(request.headers);
  headers.set('x-nonce', nonce);
  // A layout is not told where it is; sign-in needs to know where to return.
  headers.set('x-console-path', `${request.nextUrl.pathname}${request.nextUrl.search}`);
  headers.set('content-security-policy', policy);
  const response = NextResponse.next({ request: { headers } });
  response.headers.set('content-security-policy', policy);
  return response;
}

export const config = {
  matcher: [
    {
      source: '/((?!api/|v1/|mcp$|mcp/|healthz$|readyz$|metrics$|_next/static|_next/image|icon.svg$|favicon.ico$).*)',
      // The router's own prefetches are data, not pages. A browser's (`Purpose: prefetch`) becomes the page, and needs the policy.
      missing: [{ type: 'header', key: 'next-router-prefetch' }],
    },
  ],
};
