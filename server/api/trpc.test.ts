import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { createRequestLimiter } from '../operation/rate-limits.ts';
import { ManualClock } from '../platform/clock.ts';
import { sessionCookieOf, startTenantApi, startTestApi, type TenantApi, type TestApi } from '../testing/api.ts';
import { createTestServices, type TestTenant } from '../testing/identity.ts';
import { operations } from './operations.ts';
import type { AppInputs, AppRouter } from './trpc.ts';

let api: TenantApi;
let tenant: TestTenant;
let token: string;

beforeAll(async () => {
  api = await startTenantApi(operations);
  ({ tenant, token } = api);
});
afterAll(() => api.close());

/** Creates a client over real HTTP, like the console's in a browser. `answers` collects the responses. */
function client(headers: Record<string, string>, { batched = false, at = api as TestApi } = {}) {
  const answers: Response[] = [];
  const options = {
    url: `${at.url}/api/trpc`,
    headers,
    fetch: async (url: URL | RequestInfo, init?: RequestInit) => {
      const answer = await fetch(url, init);
      answers.push(answer.clone());
      return answer;
    },
  };
  const link = batched ? httpBatchLink(options) : httpLink(options);
  return { trpc: createTRPCClient<AppRouter>({ links: [link] }), answers };
}
const bearer = () => ({ authorization: `Bearer ${token}` });
const failure = (call: Promise<unknown>) =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error: TRPCClientError<AppRouter>) => error,
  );

describe('calls', () => {
  test('queries and mutations reach the operations', async () => {
    const { trpc } = client(bearer());
    const created = await trpc.workflows_create.mutate({ name: 'One' });
    const { workflows } = await trpc.workflows_list.query({ limit: 50 });
    expect(workflows.map(({ id }) => id)).toContain(created.id);
  });

  test('a batch answers each call by itself', async () => {
    const { trpc, answers } = client(bearer(), { batched: true });
    const [me, missing] = await Promise.allSettled([
      trpc.me_get.query({}),
      trpc.workflows_get.query({ id: '0190a0a0-0000-7000-8000-000000000001' }),
    ]);
    expect([me.status, missing.status]).toEqual(['fulfilled', 'rejected']);
    expect(answers.map(({ status }) => status)).toEqual([207]);
  });

  test('an operation with a raw body is not a procedure', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":"x"}' };
    const response = await fetch(`${api.url}/api/trpc/webhooks_ingest`, init);
    expect(response.status).toBe(404);
    // @ts-expect-error it is not in the router's type either
    expect(() => client({}).trpc.webhooks_ingest.mutate).not.toThrow();
  });

  test('inputs and outputs are typed', () => {
    const { trpc } = client({});
    expectTypeOf<AppInputs['workflows_list']>().toMatchObjectType<{ limit?: number | undefined }>();
    // @ts-expect-error: no such field
    () => trpc.workflows_list.query({ nope: 1 });
    // @ts-expect-error: no such procedure
    () => trpc.nothing;
    expectTypeOf(trpc.workflows_get.query).returns.resolves.toMatchObjectType<{ id: string; etag: string }>();
  });
});

describe('errors', () => {
  test('are the same as those of REST', async () => {
    const error = await failure(client({}).trpc.me_get.query({}));
    expect(error).toBeInstanceOf(TRPCClientError);
    expect(error.data).toMatchObject({ status: 401, httpStatus: 401, code: 'unauthenticated', path: 'me_get' });
    expect(error.data?.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('name the fields', async () => {
    const error = await failure(client(bearer()).trpc.workflows_create.mutate({ name: '', nope: 1 } as never));
    expect(error.data?.status).toBe(422);
    expect(error.data?.details?.map(({ path }) => path).sort()).toEqual(['name', 'nope']);
  });

  test.each([
    ['a body that is no JSON', '{', 400],
    ['a body over the limit', JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), 413],
  ])('%s', async (_, body, status) => {
    const headers = { ...bearer(), 'content-type': 'application/json' };
    const answer = await fetch(`${api.url}/api/trpc/workflows_create`, { method: 'POST', headers, body });
    expect(answer.status).toBe(status);
  });

  test.each([
    ['GET', 'nothing', 404],
    ['GET', 'workflows_create', 405],
    ['POST', 'workflows_list', 405],
  ])('%s %s', async (method, name, status) => {
    const body = method === 'POST' ? '{}' : undefined;
    const headers = { ...bearer(), 'content-type': 'application/json' };
    const answer = await fetch(`${api.url}/api/trpc/${name}`, { method, headers, body });
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toContain('stack');
  });

  test('a batch of too many calls is refused', async () => {
    const names = Array(51).fill('me_get').join(',');
    const answer = await fetch(`${api.url}/api/trpc/${names}?batch=1`, { headers: bearer() });
    expect(answer.status).toBe(400);
  });
});

describe('headers', () => {
  test('keep browsers from sniffing, storing or framing an answer, even an error', async () => {
    for (const [name, status] of [
      ['me_get', 200],
      ['nothing', 404],
    ] as const) {
      const answer = await fetch(`${api.url}/api/trpc/${name}`, { headers: { ...bearer(), 'x-request-id': 'mine' } });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-type')).toContain('application/json');
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-request-id': 'mine',
      });
    }
  });

  test("are the same if Next's route passes the call on", async () => {
    const path = '/api/trpc/workflows_list?input=%7B%22limit%22%3A1%7D';
    const headers = { ...bearer(), 'x-request-id': 'the-same' };
    const direct = await fetch(`${api.url}${path}`, { headers });
    const routed = await api.trpc(new Request(`http://console.internal${path}`, { headers }));
    expect(routed.status).toBe(200);
    expect(await routed.json()).toEqual(await direct.json());
    const own = ['connection', 'content-length', 'date', 'keep-alive'];
    const sent = Object.fromEntries([...direct.headers].filter(([name]) => !own.includes(name)));
    expect(Object.fromEntries(routed.headers)).toEqual(sent);
  });

  test('ETag and If-Match work on a single call', async () => {
    const { trpc, answers } = client(bearer());
    const { id, etag } = await trpc.workflows_create.mutate({ name: 'Two' });
    await trpc.workflows_get.query({ id });
    expect(answers.at(-1)?.headers.get('etag')).toBe(etag);
    const stale = client({ ...bearer(), 'if-match': '"999"' });
    expect((await failure(stale.trpc.workflows_patch.mutate({ id, name: 'b' }))).data?.status).toBe(412);
    const fresh = client({ ...bearer(), 'if-match': etag });
    expect((await fresh.trpc.workflows_patch.mutate({ id, name: 'b' })).name).toBe('b');
  });

  test('are ignored in a batch', async () => {
    const { trpc, answers } = client({ ...bearer(), 'if-match': '"999"' }, { batched: true });
    const { id } = await trpc.workflows_create.mutate({ name: 'Three' });
    expect((await trpc.workflows_patch.mutate({ id, name: 'c' })).name).toBe('c');
    expect(answers.at(-1)?.headers.get('etag')).toBeNull();
  });
});

test('a mutation by cookie must come from our own pages', async () => {
  const cookie = await sessionCookieOf(tenant.contributor);
  const create = (headers: Record<string, string>) =>
    client({ cookie, ...headers }).trpc.workflows_create.mutate({ name: 'x' });
  expect((await create({ 'sec-fetch-site': 'same-origin' })).name).toBe('x');
  expect((await failure(create({ 'sec-fetch-site': 'cross-site' }))).data).toMatchObject({
    status: 403,
    code: 'cross_site',
  });
  expect((await client({ cookie, 'sec-fetch-site': 'cross-site' }).trpc.me_get.query({})).user.id).toBe(
    tenant.contributor.userId,
  );
});

test('the error of a call over the rate limit says when to retry', async () => {
  const rateLimiter = createRequestLimiter(
    { principal: 1, address: 10, signIn: 10, wrongCodes: 10 },
    new ManualClock(),
  );
  const at = await startTestApi(createTestServices(api.db, { rateLimiter }), operations);
  const { trpc, answers } = client(bearer(), { at });
  await trpc.workflows_list.query({});
  const { data } = await failure(trpc.workflows_list.query({}));
  expect([data?.status, answers.at(-1)?.headers.get('retry-after')]).toEqual([429, '60']);
  await at.close();
});

test('each call of a batch counts against the rate limit', async () => {
  const clock = new ManualClock();
  const rateLimiter = createRequestLimiter({ principal: 2, address: 10, signIn: 10, wrongCodes: 10 }, clock);
  const at = await startTestApi(createTestServices(api.db, { clock, rateLimiter }), operations);
  const { trpc } = client(bearer(), { batched: true, at });
  const calls = await Promise.allSettled([1, 2, 3].map(limit => trpc.workflows_list.query({ limit })));
  expect(calls.filter(({ status }) => status === 'rejected').length).toBe(1);
  await at.close();
});
