import { consoleHeaders } from './server/api/console-headers.ts';

/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  // A second folder lets `next dev` run beside a production build of the same checkout.
  distDir: process.env.NEXT_DIST_DIR ?? '.next',
  devIndicators: false,
  // `npm run check` proves the types, of tests too; here it would double the build of everyone who only starts Baton.
  typescript: { ignoreBuildErrors: true },
  reactStrictMode: true,
  typedRoutes: false,
  // Every other header with a per-request value (the Content-Security-Policy) is set in proxy.ts.
  async headers() {
    const headers = Array.from(consoleHeaders, ([key, value]) => ({ key, value }));
    return [{ source: '/:path*', headers }];
  },
};
