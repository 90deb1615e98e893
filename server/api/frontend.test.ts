import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../orchestrator/ports/authority.ts';
import { ManualClock } from '../platform/clock.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestPat, createTestTenant } from '../testing/identity.ts';

const metricsToken = 'a-token-of-prometheus';
const byToken = { headers: { Authorization: `Bearer ${metricsToken}` } };
const LIMIT = 5;

let plain: TestContainer;
let https: TestContainer;
beforeAll(async () => {
  [plain, https] = await Promise.all([
    startTestContainer(),
    startTestContainer(
      {
        BATON_URL: 'https://baton.example.com',
        BATON_METRICS_TOKEN: metricsToken,
        BATON_DEMO_MCP: 'true',
        BATON_TRUSTED_PROXIES: '1',
        BATON_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: String(LIMIT),
        BATON_RATE_LIMIT_PER_MINUTE: String(LIMIT),
      },
      // The windows of this limiter never end.
      { clock: new ManualClock() },
    ),
  ]);
});
afterAll(() => Promise.all([plain.close(), https.close()]));

/** Requests a path exactly as written, which fetch would normalize. */
function rawStatus(service: TestContainer, path: string, from: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.on('error', reject);
    socket.on('data', chunk => {
      resolve(Number(String(chunk).slice(9, 12)));
      socket.destroy();
    });
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nConnection: close\r\n\r\n`);
  });
}

describe('requests without a credential are limited for each address', () => {
  test.each([
    ['/metrics', 401],
    ['/demo/mcp', 403],
    ['/demo/api/orders', 403],
    ['/api/auth/session', 404],
    ['/api/auth/signin', 404],
    ['/api/auth/callback/credentials', 404],
    ['/api//auth/session', 404],
    ['/api/%61uth/session', 404],
    ['/x/../api/auth/session', 404],
  ])('%s', async (path, status) => {
    // An address without earlier requests.
    const address = `2001:db8:${[...path].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_000, 7).toString(16)}::1`;
    for (let n = 0; n < LIMIT; n++) expect(await rawStatus(https, path, address)).toBe(status);
    expect(await rawStatus(https, path, address)).toBe(429);
    expect(await rawStatus(https, path, address.replace('2001:db8', '2001:db9'))).toBe(status);
  });

  test('429 says when to retry, like everywhere', async () => {
    const from = { headers: { 'X-Forwarded-For': '192.0.2.77' } };
    for (let n = 0; n < LIMIT; n++) await fetch(`${https.url}/api/auth/session`, from);
    const answer = await fetch(`${https.url}/api/auth/session`, from);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ code: 'rate_limited', request_id: expect.any(String) });
  });
});

describe('headers', () => {
  const paths = ['/healthz', '/v1/workflows', '/v1/nope', '/api/auth/signout', '/sign-in', '/_next/nope'];

  test.each(paths)('%s requires https if that is the public address', async path => {
    const [secure, local] = await Promise.all([fetch(https.url + path), fetch(plain.url + path)]);
    expect(secure.headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(local.headers.get('strict-transport-security')).toBeNull();
  });

  test.each(['/api/auth/signout', '/api/nope', '/_next/static/nope.js', '/favicon.ico'])(
    '%s, which no page’s own policy covers, has one',
    async path => {
      const policy = (await fetch(plain.url + path)).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toMatch(/^default-src '(none|self)'/);
      expect(policy).not.toContain('script-src');
    },
  );

  test('a page of the console has its own', async () => {
    expect((await fetch(`${plain.url}/sign-in`)).headers.get('content-security-policy')).toBeNull();
  });
});

describe('/metrics', () => {
  const scraped = async (service: TestContainer, init?: RequestInit) => {
    const answer = await fetch(`${service.url}/metrics`, init);
    return { status: answer.status, text: await answer.text() };
  };

  test('is served for the operator’s token', async () => {
    const { status, text } = await scraped(https, byToken);
    expect(status).toBe(200);
    expect(text).toContain('baton_http_requests_total');
  });

  test('is refused for all others, and for all if no token is configured', async () => {
    const tenant = await createTestTenant(https.container.services, { slug: 'acme' });
    const { token } = await createTestPat(https.container.services, tenant.owner, scopes);
    const from = (credential: string, address: string) => ({
      headers: { Authorization: credential, 'X-Forwarded-For': address },
    });
    const answers = await Promise.all([
      scraped(https),
      scraped(https, from(`Bearer ${token}`, '192.0.2.3')),
      scraped(https, from(`Bearer ${metricsToken}x`, '192.0.2.4')),
      scraped(https, from(metricsToken, '192.0.2.5')),
      scraped(plain),
      scraped(plain, byToken),
      scraped(plain, from('Bearer undefined', '192.0.2.6')),
      scraped(plain, from('Bearer null', '192.0.2.7')),
    ]);
    for (const { status, text } of answers) {
      expect(status).toBe(401);
      expect(text).not.toContain('baton_');
    }
  });
});
