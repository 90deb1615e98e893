import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import NextAuth from 'next-auth';
import { decode, encode } from 'next-auth/jwt';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authenticate } from '../../../server/api/authenticate.ts';
import { type ConsoleIdentity, createConsoleIdentity } from '../../../server/domains/identity/console.ts';
import { createRequestLimiter } from '../../../server/operation/rate-limits.ts';
import type { Services } from '../../../server/operation/services.ts';
import { ManualClock } from '../../../server/platform/clock.ts';
import {
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
  testPassword,
} from '../../../server/testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../server/testing/postgres.ts';
import { announceUrl, authOptions, type SignInOutcome } from './options.ts';

const sessionSecret = 'a secret of this test';
const email = 'owner@acme.example.com';
const WEEK_SECONDS = 7 * 24 * 60 * 60;
const clock = new ManualClock();

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let reported: string[];

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());
beforeEach(() => {
  reported = [];
});

let identity: ConsoleIdentity;
let outcome: SignInOutcome;
let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '/', origin);
    const pairs = (request.headers.cookie ?? '').split('; ').map(pair => pair.split('='));
    // The properties that Next adds to Node's request and response and next-auth uses.
    const req = Object.assign(request, {
      query: { ...Object.fromEntries(url.searchParams), nextauth: url.pathname.split('/').slice(3) },
      body: Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())),
      cookies: Object.fromEntries(pairs.map(([name, value]) => [name, decodeURIComponent(value ?? '')])),
    });
    const send = (body: unknown) => void response.end(typeof body === 'string' ? body : JSON.stringify(body));
    const res = Object.assign(response, {
      status: (code: number) => Object.assign(response, { statusCode: code }),
      json: send,
      send,
    });
    outcome = {};
    await NextAuth(req as never, res as never, authOptions(identity, outcome));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise(resolve => server.close(resolve)));

/** A browser for this one site. It stores cookies and fills in the CSRF token. */
class Browser {
  readonly cookies = new Map<string, string>();
  lastSetCookies: string[] = [];

  constructor(env: Record<string, string> = {}) {
    const rateLimiter = createRequestLimiter({ principal: 0, address: 0, signIn: 3, wrongCodes: 0 }, clock);
    const limitedServices = { ...services, config: testConfig(env), rateLimiter };
    const report = (_level: string, code: string) => void reported.push(code);
    const keys = { sessionSecret, masterKey: Buffer.alloc(32, 7) };
    identity = { ...createConsoleIdentity(limitedServices, keys, async () => undefined), report };
    announceUrl(identity.url, process.env);
  }

  async request(path: string, form?: Record<string, string>) {
    const answer = await fetch(`${origin}/api/auth/${path}`, {
      method: form ? 'POST' : 'GET',
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'x-forwarded-proto': 'http', // Next sets it
        'x-baton-client-address': '192.0.2.1',
      },
      ...(form && { body: new URLSearchParams(form) }),
      redirect: 'manual',
    });
    this.lastSetCookies = answer.headers.getSetCookie();
    for (const text of this.lastSetCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await answer.text();
    const type = answer.headers.get('content-type') ?? '';
    return {
      status: answer.status,
      redirect: answer.headers.get('location'),
      body: type.includes('json') ? JSON.parse(text) : text,
    };
  }

  async signIn(password: string, more: Record<string, string> = {}) {
    const { body } = await this.request('csrf');
    return this.request('callback/credentials', { csrfToken: body.csrfToken, email, password, ...more });
  }

  /** Returns the session of this browser. */
  async session() {
    return (await this.request('session')).body;
  }

  get sessionCookie(): string | undefined {
    return [...this.cookies].find(([name]) => name.endsWith('next-auth.session-token'))?.[1];
  }
}

describe('the session cookie', () => {
  it('holds the ids of user and session and the session epoch, no name, role or tenant, for 7 days', async () => {
    const browser = new Browser();
    expect(await browser.signIn(testPassword)).toMatchObject({ status: 302, redirect: origin });
    const token = await decode({ token: browser.sessionCookie, secret: sessionSecret });
    expect(Object.keys(token ?? {}).sort()).toEqual(['exp', 'iat', 'jti', 'sessionEpoch', 'sessionId', 'sub']);
    expect(token).toMatchObject({ sub: acme.owner.userId, sessionEpoch: 0 });
    expect(Number(token?.exp) - Number(token?.iat)).toBe(WEEK_SECONDS);
    expect(await browser.session()).toMatchObject({ user: { id: acme.owner.userId } });
    expect(await decode({ token: browser.sessionCookie, secret: 'another secret' }).catch(() => null)).toBeNull();
  });

  it('is HttpOnly and SameSite=Lax, and Secure over https', async () => {
    const plain = new Browser();
    await plain.signIn(testPassword);
    const cookie = plain.lastSetCookies.find(text => text.includes('session-token'));
    expect(cookie).toMatch(/^next-auth\.session-token=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/);
    clock.advance(60_000);
    const secure = new Browser({ BATON_URL: 'https://baton.example.com' });
    expect(await secure.signIn(testPassword)).toMatchObject({ redirect: 'https://baton.example.com' });
    const safe = secure.lastSetCookies.find(text => text.includes('session-token'));
    expect(safe).toMatch(
      /^__Host-next-auth\.session-token=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
    );
  });

  it('has the prefix __Host- over https, like every other cookie', async () => {
    clock.advance(60_000);
    const secure = new Browser({ BATON_URL: 'https://baton.example.com' });
    await secure.signIn(testPassword);
    expect([...secure.cookies.keys()].sort()).toEqual([
      '__Host-next-auth.callback-url',
      '__Host-next-auth.csrf-token',
      '__Host-next-auth.session-token',
    ]);
    expect(secure.lastSetCookies.join()).not.toContain('Domain');
    expect(await secure.session()).toMatchObject({ user: { id: acme.owner.userId } });
  });

  it('slides: reading the session sets the cookie again', async () => {
    clock.advance(60_000);
    const browser = new Browser();
    await browser.signIn(testPassword);
    const first = browser.sessionCookie;
    await browser.session();
    expect(browser.sessionCookie).not.toBe(first);
    const token = await decode({ token: browser.sessionCookie, secret: sessionSecret });
    expect(token).toMatchObject({ sub: acme.owner.userId, sessionEpoch: 0 });
  });

  it('is invalid after signing out, in every copy, while other sessions continue', async () => {
    clock.advance(60_000);
    const browser = new Browser();
    await browser.signIn(testPassword);
    const other = new Browser();
    await other.signIn(testPassword);
    const stolen = new Browser();
    for (const [name, value] of browser.cookies) stolen.cookies.set(name, value);
    expect(await stolen.session()).toMatchObject({ user: { id: acme.owner.userId } });
    const copy = stolen.sessionCookie ?? '';
    const api = { services, sessionSecret };
    const authenticateCopy = () => authenticate(api, { kind: 'session', token: copy }, () => undefined);
    expect(await authenticateCopy()).toMatchObject({ userId: acme.owner.userId });
    const { body } = await browser.request('csrf');
    await browser.request('signout', { csrfToken: body.csrfToken });
    expect(browser.sessionCookie).toBeUndefined();
    expect(await authenticateCopy()).toBeNull();
    expect(await stolen.session()).toEqual({});
    expect(stolen.sessionCookie).toBeUndefined();
    expect(await other.session()).toMatchObject({ user: { id: acme.owner.userId } });
    expect(reported).toEqual(['JWT_SESSION_ERROR']);
  });

  it('without a session id ends all sessions of the user on signing out', async () => {
    clock.advance(60_000);
    const { sub, sessionEpoch } = { sub: acme.contributor.userId, sessionEpoch: 0 };
    const browser = new Browser();
    const cookie = await encode({ secret: sessionSecret, token: { sub, sessionEpoch } });
    browser.cookies.set('next-auth.session-token', cookie);
    const { body } = await browser.request('csrf');
    await browser.request('signout', { csrfToken: body.csrfToken });
    const principal = authenticate({ services, sessionSecret }, { kind: 'session', token: cookie }, () => undefined);
    expect(await principal).toBeNull();
  });

  it('is removed once all sessions have ended', async () => {
    clock.advance(60_000);
    const browser = new Browser();
    await browser.signIn(testPassword);
    await db.pool.query('UPDATE users SET session_epoch = session_epoch + 1 WHERE id = $1', [acme.owner.userId]);
    expect(await browser.session()).toEqual({});
    expect(browser.sessionCookie).toBeUndefined();
    expect(reported).toEqual(['JWT_SESSION_ERROR']);
    await db.pool.query('UPDATE users SET session_epoch = 0 WHERE id = $1', [acme.owner.userId]);
  });
});

describe('signing in', () => {
  it('answers a wrong password like an unknown account, and with rate_limited over the limit', async () => {
    clock.advance(60_000);
    const browser = new Browser();
    const wrong = { status: 302, redirect: `${origin}/api/auth/error?error=CredentialsSignin&provider=credentials` };
    expect(await browser.signIn('wrong password')).toMatchObject(wrong);
    expect(await browser.signIn('wrong password', { email: 'nobody@acme.example.com' })).toMatchObject(wrong);
    await browser.signIn('wrong password');
    await browser.signIn('wrong password');
    expect(await browser.signIn(testPassword)).toMatchObject({
      redirect: expect.stringMatching(/error=rate_limited$/),
    });
    expect(outcome).toEqual({ retryAfter: expect.stringMatching(/^([1-9]|[1-5]\d|60)$/) });
    clock.advance(60_000);
    await browser.signIn('wrong password');
    expect(outcome).toEqual({});
    expect(browser.sessionCookie).toBeUndefined();
    expect(reported).toEqual([]);
  });

  it('shows errors on the console’s own page', async () => {
    const browser = new Browser();
    expect(await browser.request('error?error=rate_limited')).toMatchObject({
      redirect: '/sign-in?error=rate_limited',
    });
    expect(await browser.request('signin')).toMatchObject({ redirect: expect.stringMatching(/^\/sign-in\?/) });
  });

  it('needs the CSRF token', async () => {
    clock.advance(60_000);
    const browser = new Browser();
    await browser.signIn(testPassword, { csrfToken: 'forged' });
    expect(browser.sessionCookie).toBeUndefined();
  });

  it('never redirects to another site', async () => {
    clock.advance(60_000);
    const browser = new Browser();
    const answer = await browser.signIn(testPassword, { callbackUrl: 'https://evil.example.com/' });
    expect(answer.redirect).toBe(origin);
    clock.advance(60_000);
    expect(await new Browser().signIn(testPassword, { callbackUrl: '/runs' })).toMatchObject({
      redirect: `${origin}/runs`,
    });
  });
});
