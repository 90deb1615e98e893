import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Principal } from '../operation/context.ts';
import { type AnyOperation, operation } from '../operation/operation.ts';
import { createRequestLimiter } from '../operation/rate-limits.ts';
import { AnyObject, Id, page } from '../operation/wire.ts';
import { ManualClock } from '../platform/clock.ts';
import { conflict } from '../platform/errors.ts';
import { noteDatabaseError } from '../platform/postgres/away.ts';
import { sessionCookieOf, startTenantApi, startTestApi, type TenantApi, type TestApi } from '../testing/api.ts';
import { createTestPat, createTestServices, type TestTenant, testConfig } from '../testing/identity.ts';

const common = { tag: 'Things', summary: 'For tests', scope: 'workflow:read' } as const;
const Echo = z.strictObject({ input: z.unknown() });

const things = [
  operation({
    ...common,
    name: 'things_list',
    method: 'GET',
    path: '/v1/things',
    status: 200,
    access: 'project_viewer',
    input: z.strictObject({ ...page, active: z.boolean().optional(), ids: z.array(z.string()).optional() }),
    output: Echo,
    run: async (_, input) => ({ input }),
  }),
  operation({
    ...common,
    name: 'things_update',
    method: 'PATCH',
    path: '/v1/things/{id}',
    status: 200,
    access: 'project_contributor',
    scope: 'workflow:write',
    headers: ['If-Match'],
    input: z.strictObject({ id: Id, name: z.string().optional(), free: AnyObject.optional() }),
    output: z.strictObject({ input: z.unknown(), condition: z.string().nullable() }),
    async run(ctx, input) {
      ctx.responseHeaders.set('ETag', '"7"');
      return { input, condition: ctx.headers.get('if-match') ?? null };
    },
  }),
  operation({
    ...common,
    name: 'things_delete',
    method: 'DELETE',
    path: '/v1/things/{id}',
    status: 204,
    access: 'project_contributor',
    input: z.strictObject({ id: Id }),
    output: z.undefined(),
    run: async () => undefined,
  }),
  operation({
    ...common,
    name: 'things_fail',
    method: 'POST',
    path: '/v1/things/fail',
    status: 200,
    access: 'project_viewer',
    input: z.strictObject({ how: z.enum(['defect', 'conflict', 'database', 'output']) }),
    output: z.strictObject({ ok: z.literal(true) }),
    async run(_, { how }) {
      if (how === 'conflict') throw conflict('already_done', 'It was done before.');
      if (how === 'database') throw noteDatabaseError(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
      if (how === 'defect') throw new Error('the password is swordfish');
      return JSON.parse('{"ok":false}');
    },
  }),
  operation({
    name: 'things_public',
    tag: 'Things',
    summary: 'For tests',
    method: 'POST',
    path: '/v1/public',
    status: 201,
    access: 'public',
    input: z.strictObject({}),
    output: z.strictObject({ ok: z.literal(true) }),
    run: async () => ({ ok: true as const }),
  }),
  operation({
    ...common,
    name: 'things_beta',
    method: 'GET',
    path: '/v1/beta',
    status: 200,
    access: 'public',
    feature: 'suite',
    input: z.strictObject({}),
    output: z.strictObject({ ok: z.literal(true) }),
    run: async () => ({ ok: true as const }),
  }),
] as const satisfies readonly AnyOperation[];

const thing = '/v1/things/0190a0a0-0000-7000-8000-000000000001';
let api: TenantApi;
let tenant: TestTenant;
let token: string;

beforeAll(async () => {
  api = await startTenantApi(things);
  ({ tenant, token } = api);
});
afterAll(() => api.close());

type Sent = { method?: string; headers?: Record<string, string>; body?: unknown; raw?: BodyInit; as?: string | null };

/** Sends a request with the contributor's token, or another credential in `as` (null: none). */
async function send(
  path: string,
  { method = 'GET', headers = {}, body, raw, as = token }: Sent = {},
  at: TestApi = api,
) {
  const response = await fetch(at.url + path, {
    method,
    headers: {
      ...(as === null ? {} : { Authorization: `Bearer ${as}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? raw : JSON.stringify(body),
    ...(raw instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) };
}

describe('credentials', () => {
  test.each([
    ['none', {}],
    ['a Basic one', { Authorization: 'Basic YTpi' }],
    ['an unknown token', { Authorization: `Bearer pat_${'a'.repeat(46)}` }],
    ['a forged cookie', { Cookie: 'next-auth.session-token=abc.def' }],
  ])('%s is 401', async (_, headers) => {
    const { status, headers: answered, body } = await send('/v1/things', { headers, as: null });
    expect(status).toBe(401);
    expect(answered.get('www-authenticate')).toBe('Bearer');
    expect(body).toMatchObject({ code: 'unauthenticated', error: expect.any(String) });
  });

  test('a session cookie is accepted, whole or in chunks', async () => {
    const cookie = (await sessionCookieOf(tenant.viewer)).slice('next-auth.session-token='.length);
    for (const Cookie of [
      `other=1; next-auth.session-token=${cookie}`,
      `next-auth.session-token.0=${cookie.slice(0, 50)}; next-auth.session-token.1=${cookie.slice(50)}`,
    ]) {
      expect((await send('/v1/things', { headers: { Cookie }, as: null })).status).toBe(200);
    }
  });

  test('over https only the cookie is accepted that no other host can set', async () => {
    const config = testConfig({ BATON_URL: 'https://baton.example.com' });
    const https = await startTestApi(createTestServices(api.db, { config }), things);
    const cookie = (await sessionCookieOf(tenant.viewer)).slice('next-auth.session-token='.length);
    for (const [name, status] of [
      ['__Host-next-auth.session-token', 200],
      ['__Secure-next-auth.session-token', 401],
      ['next-auth.session-token', 401],
    ] as const) {
      const answer = await fetch(`${https.url}/v1/things`, { headers: { Cookie: `${name}=${cookie}` } });
      expect([name, answer.status]).toEqual([name, status]);
    }
    await https.close();
  });

  test('a session that was ended is 401', async () => {
    const Cookie = await sessionCookieOf(tenant.viewer, 1);
    expect((await send('/v1/things', { headers: { Cookie }, as: null })).status).toBe(401);
  });

  test('an invalid Authorization header is 401, even with a valid cookie', async () => {
    const headers = { Cookie: await sessionCookieOf(tenant.owner) };
    expect((await send('/v1/things', { headers, as: 'pat_wrong' })).status).toBe(401);
  });

  test('a token is bound to its tenant and project', async () => {
    const own = { 'X-Tenant-Id': tenant.tenantId, 'X-Project-Id': tenant.projectId };
    expect((await send('/v1/things', { headers: own })).status).toBe(200);
    expect((await send('/v1/things', { headers: { 'X-Tenant-Id': 'other' } })).status).toBe(403);
    const project = { 'X-Project-Id': '0190a0a0-0000-7000-8000-000000000002' };
    expect((await send('/v1/things', { headers: project })).status).toBe(403);
  });
});

describe('authority', () => {
  test('the role is checked before the input', async () => {
    const headers = { Cookie: await sessionCookieOf(tenant.viewer), 'Sec-Fetch-Site': 'same-origin' };
    const { status, body } = await send(thing, { method: 'PATCH', headers, as: null, body: { nonsense: 1 } });
    expect([status, body.code]).toEqual([403, 'insufficient_role']);
  });

  test('the scope is checked before the input', async () => {
    const services = createTestServices(api.db);
    const { token: reader } = await createTestPat(services, tenant.contributor, ['workflow:read']);
    const { status, body } = await send(thing, { method: 'PATCH', as: reader, raw: '{{{' });
    expect([status, body.code]).toEqual([403, 'insufficient_scope']);
  });

  test('an operation of a feature that is off is 404', async () => {
    expect((await send('/v1/beta', { as: null })).status).toBe(404);
  });
});

describe('query parameters', () => {
  test('are parsed by their schema', async () => {
    const { body } = await send('/v1/things?limit=7&active=false&ids=a&ids=b');
    expect(body.input).toEqual({ limit: 7, active: false, ids: ['a', 'b'] });
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['active=1', 'active'],
    ['active=TRUE', 'active'],
    ['unknown=1', 'unknown'],
    ['__proto__=1', '__proto__'],
    ['cursor=', 'cursor'],
  ])('%s is 422', async (query, path) => {
    const { status, body } = await send(`/v1/things?${query}`);
    expect(status).toBe(422);
    expect(body.details).toEqual([{ path, message: expect.any(String) }]);
  });

  test('NUL is 422: PostgreSQL cannot hold it', async () => {
    expect((await send('/v1/things?cursor=a%00b')).status).toBe(422);
  });

  test('a route that takes a body takes no query parameters', async () => {
    expect((await send(`${thing}?name=a`, { method: 'PATCH', body: {} })).status).toBe(422);
  });
});

describe('request bodies', () => {
  const patch = (sent: Sent) => send(thing, { method: 'PATCH', ...sent });
  const asJson = { 'Content-Type': 'application/json' };

  test('no body is an empty object', async () => {
    expect((await patch({})).body.input).toEqual({ id: thing.slice(11) });
  });

  test.each(['{', '{"name":', 'null,', '\u0000', '{"name":"a"}}', "{'name':'a'}"])('%j is 400', async raw => {
    const { status, body } = await patch({ raw, headers: asJson });
    expect(status).toBe(400);
    expect(body.error).toContain('request body');
  });

  test('bytes that are not UTF-8 are 400', async () => {
    const raw = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect((await patch({ raw, headers: asJson })).status).toBe(400);
  });

  test.each(['[]', 'null', '1', '"a"', 'true'])('%s is no object: 422', async raw => {
    expect((await patch({ raw, headers: asJson })).status).toBe(422);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
    'a body of type %j is 415',
    async type => {
      const raw = new TextEncoder().encode('{}');
      expect((await patch({ raw, headers: type ? { 'Content-Type': type } : {} })).status).toBe(415);
    },
  );

  test('a charset beside application/json is fine', async () => {
    const headers = { 'Content-Type': 'Application/JSON; charset=utf-8' };
    expect((await patch({ raw: '{"name":"é"}', headers })).body.input.name).toBe('é');
  });

  test('every unknown field is named', async () => {
    const { status, body } = await patch({ body: { name: 1, nmae: 'a', other: 2 } });
    expect(status).toBe(422);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual(['name', 'nmae', 'other']);
  });

  test('the path has precedence: an id in the body is 422', async () => {
    const { status, body } = await patch({ body: { id: '0190a0a0-0000-7000-8000-000000000009' } });
    expect([status, body.details[0].path]).toEqual([422, 'id']);
  });

  test('duplicate keys and __proto__ harm nothing', async () => {
    const twice = await patch({ raw: '{"name":"a","name":"b"}', headers: asJson });
    expect(twice.body.input.name).toBe('b');
    const inside = await patch({ raw: '{"free":{"__proto__":{"admin":true},"a":1}}', headers: asJson });
    expect(inside.status).toBe(200);
    expect(Reflect.get({}, 'admin')).toBeUndefined();
    expect((await patch({ raw: '{"__proto__":{"name":"x"}}', headers: asJson })).status).toBe(422);
  });

  test('100 levels of nesting are accepted, more are 400', async () => {
    const nested = (levels: number) => `{"free":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}}`;
    expect((await patch({ raw: nested(98), headers: asJson })).status).toBe(200);
    for (const levels of [100, 150_000]) {
      const { status, body } = await patch({ raw: nested(levels), headers: asJson });
      expect([status, body.code]).toEqual([400, 'too_deep']);
    }
  });

  test.each(['"a\\u0000b"', '"\\ud800"'])('text that cannot be stored is 422: %s', async text => {
    const { status, body } = await patch({ raw: `{"free":{"a":[${text}]}}`, headers: asJson });
    expect([status, body.code]).toEqual([422, 'invalid_text']);
  });

  test('1 MiB is accepted, a byte more is 413, with and without Content-Length', async () => {
    const padded = (bytes: number) => `{"name":"${'a'.repeat(bytes - 11)}"}`;
    const limit = 1024 * 1024;
    expect((await patch({ raw: padded(limit), headers: asJson })).status).toBe(200);
    expect((await patch({ raw: padded(limit + 1), headers: asJson })).status).toBe(413);
    const chunked = new Blob([padded(limit + 1)]).stream();
    expect((await patch({ raw: chunked, headers: asJson })).status).toBe(413);
  });

  test('a request is refused before its body is read', async () => {
    expect((await patch({ as: null, raw: 'x'.repeat(2_000_000) })).status).toBe(401);
  });
});

describe('responses', () => {
  test('carry a request id: the caller’s if it is well-formed, else a new one', async () => {
    expect((await send('/v1/things', { headers: { 'X-Request-Id': 'trace-1' } })).headers.get('x-request-id')).toBe(
      'trace-1',
    );
    const { headers, body } = await send('/v1/nothing', { headers: { 'X-Request-Id': 'a b<script>' } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.request_id).toBe(headers.get('x-request-id'));
  });

  test('are not cached, sniffed or framed', async () => {
    const { headers } = await send('/v1/things');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test('carry the headers that an operation sets, and the operation gets the request headers that it declares', async () => {
    const headers = { 'If-Match': '"6"' };
    const { body, headers: answered } = await send(thing, { method: 'PATCH', headers, body: {} });
    expect([body.condition, answered.get('etag')]).toEqual(['"6"', '"7"']);
  });

  test('204 has no body', async () => {
    expect(await send(thing, { method: 'DELETE' })).toMatchObject({ status: 204, text: '' });
  });

  test('errors of use cases keep their status and code', async () => {
    const { status, body } = await send('/v1/things/fail', { method: 'POST', body: { how: 'conflict' } });
    expect([status, body]).toMatchObject([409, { error: 'It was done before.', code: 'already_done' }]);
  });

  test('a defect is 500 and reveals nothing', async () => {
    const { status, text } = await send('/v1/things/fail', { method: 'POST', body: { how: 'defect' } });
    expect(status).toBe(500);
    expect(text).not.toContain('swordfish');
  });

  test('an output that its schema does not allow is 500 outside production', async () => {
    expect((await send('/v1/things/fail', { method: 'POST', body: { how: 'output' } })).status).toBe(500);
  });

  test('a database that is away is 503 with Retry-After', async () => {
    const { status, headers } = await send('/v1/things/fail', { method: 'POST', body: { how: 'database' } });
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
  });
});

describe('routes', () => {
  test('unknown ones are 404, with a trailing slash too', async () => {
    for (const path of ['/v1/nothing', '/v1/things/', '/v1']) {
      expect((await send(path)).body).toMatchObject({ code: 'not_found', error: 'Route not found.' });
    }
  });

  test('a malformed id is 404, after the role was checked', async () => {
    expect((await send('/v1/things/nope', { method: 'PATCH', body: {} })).status).toBe(404);
    expect((await send('/v1/things/nope', { method: 'PATCH', body: {}, as: null })).status).toBe(401);
  });

  test('a malformed percent escape is 400', async () => {
    expect((await send('/v1/things/%zz')).status).toBe(400);
  });

  test('another method is 405 with Allow', async () => {
    const { status, headers } = await send(thing, { method: 'PUT' });
    expect([status, headers.get('allow')]).toEqual([405, 'DELETE, PATCH, OPTIONS']);
  });

  test('HEAD is GET without a body; OPTIONS names the methods', async () => {
    expect(await send('/v1/things', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
    const options = await send('/v1/things', { method: 'OPTIONS', as: null });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect(options.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('the stream without an upgrade is 426', async () => {
    expect((await send(`/v1/workflows/${thing.slice(11)}/stream`)).status).toBe(426);
  });
});

describe('requests of other sites', () => {
  const attempt = async (headers: Record<string, string>, method = 'DELETE') =>
    (
      await send(method === 'GET' ? '/v1/things' : thing, {
        method,
        as: null,
        headers: { Cookie: await sessionCookieOf(tenant.contributor), ...headers },
      })
    ).status;

  test('a change by cookie must come from our own pages', async () => {
    expect(await attempt({ 'Sec-Fetch-Site': 'same-origin' })).toBe(204);
    expect(await attempt({ 'Sec-Fetch-Site': 'none' })).toBe(204);
    expect(await attempt({ Origin: api.url })).toBe(204);
    expect(await attempt({ 'Sec-Fetch-Site': 'cross-site', Origin: api.url })).toBe(403);
    expect(await attempt({ 'Sec-Fetch-Site': 'same-site' })).toBe(403);
    expect(await attempt({ Origin: 'https://evil.example' })).toBe(403);
    expect(await attempt({ Origin: 'null' })).toBe(403);
    expect(await attempt({})).toBe(403);
  });

  test('reading by cookie and changing by token are permitted', async () => {
    expect(await attempt({ 'Sec-Fetch-Site': 'cross-site' }, 'GET')).toBe(200);
    expect((await send(thing, { method: 'DELETE', headers: { Origin: 'https://evil.example' } })).status).toBe(204);
  });
});

describe('rate limits', () => {
  async function withLimits(
    limits: { principal: number; address: number },
    run: (at: TestApi, clock: ManualClock) => Promise<void>,
  ) {
    const clock = new ManualClock();
    const rateLimiter = createRequestLimiter({ ...limits, signIn: 10, wrongCodes: 10 }, clock);
    const at = await startTestApi(createTestServices(api.db, { clock, rateLimiter }), things);
    await run(at, clock).finally(() => at.close());
  }

  test('a principal that exceeds its requests per minute gets 429', async () => {
    await withLimits({ principal: 2, address: 100 }, async (at, clock) => {
      const first = await send('/v1/things', {}, at);
      expect(['limit', 'remaining', 'reset'].map(name => first.headers.get(`ratelimit-${name}`))).toEqual([
        '2',
        '1',
        '60',
      ]);
      expect((await send('/v1/things', {}, at)).status).toBe(200);
      const third = await send('/v1/things', {}, at);
      expect([third.status, third.body.code, third.headers.get('retry-after')]).toEqual([429, 'rate_limited', '60']);
      expect(third.headers.get('ratelimit-remaining')).toBe('0');
      clock.advance(60_000);
      expect((await send('/v1/things', {}, at)).status).toBe(200);
    });
  });

  test('the tokens of a user share a limit, and another user has a separate one', async () => {
    await withLimits({ principal: 2, address: 100 }, async at => {
      const services = createTestServices(api.db);
      const tokenOf = async (who: Principal) => (await createTestPat(services, who, ['workflow:read'])).token;
      const tokens = [await tokenOf(api.tenant.owner), await tokenOf(api.tenant.owner)];
      const statuses: number[] = [];
      for (const as of [...tokens, ...tokens]) statuses.push((await send('/v1/things', { as }, at)).status);
      expect(statuses).toEqual([200, 200, 429, 429]);
      expect((await send('/v1/things', { as: await tokenOf(api.tenant.viewer) }, at)).status).toBe(200);
    });
  });

  test('requests without a credential count for the address, not for a principal at that address', async () => {
    await withLimits({ principal: 100, address: 2 }, async (at, clock) => {
      expect((await send('/v1/things', { as: null }, at)).status).toBe(401);
      expect((await send('/v1/public', { method: 'POST', as: null }, at)).status).toBe(201);
      expect((await send('/v1/things', { as: 'pat_wrong' }, at)).status).toBe(429);
      expect((await send('/v1/nothing', { as: null }, at)).status).toBe(429);
      expect((await send('/v1/things', {}, at)).status).toBe(200);
      expect((await send('/healthz', { as: null }, at)).status).toBe(200);
      clock.advance(60_000);
      expect((await send('/v1/things', { as: null }, at)).status).toBe(401);
    });
  });

  test('0 disables the limit and its headers', async () => {
    const { headers } = await send('/v1/things');
    expect(headers.get('ratelimit-limit')).toBeNull();
  });
});

test('a client that disconnects in the middle of its body does not affect other requests', async () => {
  const { hostname, port } = new URL(api.url);
  await new Promise<void>(resolve => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `PATCH ${thing} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"na`,
        () => socket.destroy(),
      );
    });
    socket.once('close', () => resolve());
  });
  expect((await send('/v1/things')).status).toBe(200);
});

test('/healthz and /readyz answer', async () => {
  expect((await send('/healthz', { as: null })).body).toEqual({ status: 'ok' });
  const ready = await send('/readyz', { as: null });
  expect([ready.status, ready.body.database]).toEqual([503, 'migrated']); // these services have no orchestrator
  expect((await send('/readyz?role=any', { as: null })).status).toBe(503);
  expect(await send('/readyz?role=leader', { as: null })).toMatchObject({
    status: 422,
    body: { code: 'invalid', error: 'The query parameter role of /readyz takes only "any".' },
  });
});

test('the fetch handler answers as the server does', async () => {
  const headers = { Authorization: `Bearer ${token}`, 'X-Request-Id': 'same', 'Content-Type': 'application/json' };
  for (const [path, init] of [
    ['/v1/things?limit=3', { headers }],
    [thing, { method: 'PATCH', headers, body: '{"name":"a"}' }],
    [thing, { method: 'PATCH', headers, body: '{' }],
    [thing, { method: 'DELETE', headers }],
    ['/v1/nothing', { headers }],
  ] as const) {
    const served = await fetch(api.url + path, init);
    const handled = await api.fetchHandler(new Request(`http://localhost${path}`, init));
    expect([handled.status, await handled.text()]).toEqual([served.status, await served.text()]);
    for (const name of ['content-type', 'x-request-id', 'etag', 'cache-control']) {
      expect(handled.headers.get(name)).toBe(served.headers.get(name));
    }
  }
});
