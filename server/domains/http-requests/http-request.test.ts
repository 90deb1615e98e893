import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../api/operations.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import {
  type Handler,
  json,
  type SeenRequest,
  startHttpServer,
  type TestHttpServer,
} from '../../testing/http-server.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { reached } from '../../testing/runs.ts';
import { createTestProject, refusal } from '../../testing/workflows.ts';

const SECRET = 'tok_4f9a1c77d2b84e';

type Made = { id: string } & Record<string, unknown>;
type Event = { event_type: string; step_id?: string; data: Record<string, unknown> };

let service: TestContainer;
let acme: TestTenant;
let rival: TestTenant;
let api: TestHttpServer;
let other: TestHttpServer;
let call: ReturnType<typeof createCall<typeof operations>>;
/** The next answers of /flaky, in order; then 200. */
let refusals: { status: number; headers?: Record<string, string> }[] = [];

const echo: Handler = ({ method, path, headers, body }, response) =>
  json({ method, path, headers, body })({} as SeenRequest, response);

const handlers: Record<string, Handler> = {
  '/echo': echo,
  '/a%2F..%2Fb%3Fc': echo,
  '/text': (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('Grüße'),
  '/missing': ({ path }, response) => json({ message: `no such order at ${path}` }, 404)({} as SeenRequest, response),
  '/flaky': (_, response) => {
    const { status = 200, headers = {} } = refusals.shift() ?? {};
    json({ ok: status === 200 }, status, headers)({} as SeenRequest, response);
  },
  '/wait': () => undefined,
  '/orders': ({ path }, response) => {
    const page = Number(new URL(path, 'http://server.test').searchParams.get('page') ?? '1');
    const next = page < 3 ? `?page=${page + 1}` : null;
    const link = page < 3 ? { link: `</orders?page=${page + 1}>; rel="next", </orders>; rel="first"` } : undefined;
    json({ data: { orders: [page * 10, page * 10 + 1] }, next }, 200, link)({} as SeenRequest, response);
  },
  '/circle': json({ data: [], next: '/circle' }),
  '/to-echo': (_, response) => void response.writeHead(302, { location: '/echo' }).end(),
  '/to-other': (_, response) => void response.writeHead(307, { location: `${other.url}/echo` }).end(),
};

const callOperation = async (
  name: (typeof operations)[number]['name'],
  input: object,
  by: Pick<TestTenant, 'contributor'> = acme,
) => (await call(by.contributor, name, input)) as Made;

beforeAll(async () => {
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' });
  api = await startHttpServer(handlers);
  other = await startHttpServer({ '/echo': echo, '/orders': json([1]) });
  const { services } = service.container;
  acme = await createTestTenant(services, { slug: 'acme' });
  rival = await createTestTenant(services, { slug: 'rival' });
  call = createCall(services, operations);
});
afterAll(async () => {
  await service.close();
  await api.close();
  await other.close();
});

const step = (path: string, more: object = {}) => ({
  id: 'send',
  type: 'http_request',
  url: `${api.url}${path}`,
  retry_delay_s: 0,
  ...more,
});

async function connect(
  credentials: object,
  origins = [api.url],
  by: Pick<TestTenant, 'contributor'> = acme,
): Promise<string> {
  const connection = { display_name: 'Key', provider: 'custom', service: 'api_key', credentials, origins };
  return (await callOperation('connections_create', connection, by)).id;
}

async function publish(...steps: object[]): Promise<string> {
  const { id } = await callOperation('workflows_create', { name: `W ${newId()}`, graph: { steps } });
  await callOperation('workflows_publish_version', { id });
  return id;
}

async function start(id: string, trigger_payload: object = {}) {
  const started = await callOperation('workflows_execute_command', {
    id,
    command: 'start',
    params: { trigger_payload },
  });
  return { id, runID: String(started.run_id) };
}

async function outcomeOf(ref: { id: string; runID: string }) {
  await reached(service.container.services, acme.contributor, ref);
  const listed = await callOperation('runs_list_events', { ...ref, limit: 200 });
  const events = listed.events as unknown as Event[];
  const eventsOfType = (type: string) => events.filter(event => event.event_type === type);
  const result = eventsOfType('step_completed').at(-1)?.data.result as Record<string, unknown> | undefined;
  return { events, eventsOfType, result, error: eventsOfType('step_failed')[0]?.data.error };
}

const runWith = async (input: object, ...steps: object[]) => outcomeOf(await start(await publish(...steps), input));
const runSteps = (...steps: object[]) => runWith({}, ...steps);
const lastSeen = () => api.seen.at(-1) as SeenRequest;

async function problems(...steps: object[]): Promise<{ path: string; code: string }[]> {
  const { id } = await callOperation('workflows_create', { name: `W ${newId()}`, graph: { steps } });
  const { errors } = (await callOperation('workflows_validate', { id })) as unknown as {
    errors: { path: string; code: string }[];
  };
  return errors.map(({ path, code }) => ({ path, code }));
}

describe('an http_request', () => {
  test('returns the status, the headers and the body, parsed if it is JSON', async () => {
    expect((await runSteps(step('/orders'))).result).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { data: { orders: [10, 11] } },
    });
    expect((await runSteps(step('/text'))).result).toMatchObject({ status: 200, body: 'Grüße' });
  });

  test('renders templates everywhere; what they insert into the URL stays in its place', async () => {
    const ask = step('/{{input.path}}', {
      method: '{{input.method}}',
      query: { q: '{{input.q}}', tags: ['{{input.q}}', 2], none: null, given: '{{input.list}}' },
      headers: { 'X-Order': 'n {{input.n}}', 'X-Null': null },
      body: { n: '{{input.n}}', text: 'n={{input.n}}' },
    });
    const input = { path: 'a/../b?c', method: 'POST', q: 'ä & b', n: 7, list: [true, 'x'] };
    await runWith(input, { ...ask, expect: [200] });
    const { method, path, headers, body } = lastSeen();
    expect(method).toBe('POST');
    expect(path).toBe('/a%2F..%2Fb%3Fc?q=%C3%A4+%26+b&tags=%C3%A4+%26+b&tags=2&given=true&given=x');
    expect(headers).toMatchObject({ 'x-order': 'n 7', 'content-type': 'application/json' });
    expect(headers).not.toHaveProperty('x-null');
    expect(JSON.parse(body)).toEqual({ n: 7, text: 'n=7' });
    for (const base of [`${api.url}/echo`, `${api.url}/echo?a=1`]) {
      await runWith({ base }, { ...step(''), url: '{{input.base}}', query: { b: 2 } });
      expect(lastSeen().path).toBe(base.endsWith('1') ? '/echo?a=1&b=2' : '/echo?b=2');
    }
  });

  test.each([
    ['..', 'url: holds "." or ".."'],
    ['%2E%2e', null],
  ])('does not leave the path with %s', async (name, message) => {
    const before = api.seen.length;
    const { error } = await runWith({ name }, step('/echo/{{input.name}}/x'));
    if (message === null) expect(lastSeen().path).toBe('/echo/%252E%252e/x');
    else {
      expect(error).toMatchObject({ code: 'invalid_step', message: expect.stringContaining(message) });
      expect(api.seen).toHaveLength(before);
    }
  });

  test('sends a form, a text, or parts', async () => {
    await runSteps(step('/echo', { method: 'POST', form: { a: 'x y', b: [1, 2] } }));
    expect(lastSeen()).toMatchObject({ body: 'a=x+y&b=1&b=2' });
    expect(lastSeen().headers['content-type']).toBe('application/x-www-form-urlencoded');
    await runSteps(step('/echo', { method: 'PUT', text: '<a/>', headers: { 'Content-Type': 'application/xml' } }));
    expect(lastSeen()).toMatchObject({ method: 'PUT', body: '<a/>' });
    expect(lastSeen().headers['content-type']).toBe('application/xml');
    const multipart = [
      { name: 'note', value: 'for {{input.who}}' },
      { name: 'data', value: { a: '{{input.who}}' } },
      { name: 'file', filename: '{{input.who}}.bin', value: 'AAEC/w==', encoding: 'base64' },
    ];
    await runWith({ who: 'ann' }, step('/echo', { method: 'POST', multipart }));
    const { headers, body } = lastSeen();
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    const sent = await new Response(Buffer.from(body, 'latin1'), {
      headers: { 'content-type': String(headers['content-type']) },
    }).formData();
    expect(sent.get('note')).toBe('for ann');
    const [data, file] = [sent.get('data') as File, sent.get('file') as File];
    expect([data.type, await data.text()]).toEqual(['application/json', '{"a":"ann"}']);
    expect([file.name, Buffer.from(await file.arrayBuffer()).toString('hex')]).toEqual(['ann.bin', '000102ff']);
  });

  test('carries an idempotency key where a repetition could do harm, unless the author sets one', async () => {
    const ref = await start(await publish(step('/echo', { method: 'DELETE' })));
    await outcomeOf(ref);
    expect(lastSeen().headers['idempotency-key']).toBe(`${ref.runID}:send`);
    await runSteps(step('/echo', { method: 'POST', headers: { 'Idempotency-Key': 'own' } }));
    expect(lastSeen().headers['idempotency-key']).toBe('own');
    await runSteps(step('/echo'));
    expect(lastSeen().headers).not.toHaveProperty('idempotency-key');
  });

  test('takes the statuses of expect for success, 2xx by default', async () => {
    const { error, eventsOfType } = await runSteps(step('/missing', { retry_count: 3 }));
    expect(error).toMatchObject({
      code: 'unexpected_status',
      message: expect.stringMatching(/\/missing answered 404: .*no such order/),
    });
    expect(eventsOfType('step_retrying')).toEqual([]);
    expect((await runSteps(step('/missing', { expect: ['2xx', 404] }))).result).toMatchObject({ status: 404 });
    expect((await runSteps(step('/echo', { expect: [201] }))).error).toMatchObject({ code: 'unexpected_status' });
    const kept = await runSteps(step('/to-echo', { expect: ['3xx'], follow_redirects: false }));
    expect(kept.result).toMatchObject({ status: 302, headers: { location: '/echo' } });
  });

  test('is retried after 408, 429 and 5xx, not earlier than the server asks', async () => {
    refusals = [{ status: 408 }, { status: 429, headers: { 'retry-after': '1' } }, { status: 503 }];
    const { result, eventsOfType } = await runSteps(step('/flaky', { retry_count: 3 }));
    expect(result).toMatchObject({ body: { ok: true } });
    const delays = eventsOfType('step_retrying').map(({ data }) => data.delay_ms);
    expect(delays).toEqual([0, 1_000, 0]);
    refusals = [{ status: 500 }];
    expect((await runSteps(step('/flaky'))).error).toMatchObject({ code: 'unexpected_status' });
  });

  test('is retried if the connection is refused', async () => {
    const gone = await startHttpServer({});
    await gone.close();
    const { error, eventsOfType } = await runSteps({ ...step(''), url: gone.url, retry_count: 1 });
    expect(error).toMatchObject({ code: 'http_unreachable' });
    expect(eventsOfType('step_retrying')).toHaveLength(1);
  });

  test('ends its connection when its run is stopped or its time limit passes', async () => {
    const before = api.seen.length;
    const ref = await start(await publish(step('/wait')));
    await expect.poll(() => api.seen.length).toBe(before + 1);
    const params = { run_id: ref.runID, mode: 'immediate' };
    await callOperation('workflows_execute_command', { id: ref.id, command: 'stop', params });
    await lastSeen().left;
    expect((await outcomeOf(ref)).eventsOfType('step_cancelled')).toHaveLength(1);
    const { error } = await runSteps(step('/wait', { timeout_s: 1 }));
    expect(error).toMatchObject({ code: 'step_timed_out' });
    await lastSeen().left;
  });

  test('reaches only the public network and the hosts that are listed', async () => {
    const { error } = await runWith(
      { url: 'http://169.254.169.254/latest/meta-data' },
      { ...step(''), url: '{{input.url}}' },
    );
    expect(error).toMatchObject({ code: 'egress_refused' });
  });

  test('is charged as one step', async () => {
    const { eventsOfType } = await runSteps(step('/echo'));
    expect(eventsOfType('step_completed')[0]?.data).not.toHaveProperty('consumed');
  });
});

describe('publishing checks an http_request', () => {
  test('in each of its fields: 422 with paths', async () => {
    const steps = [
      step('/x', {
        method: 'TRACE',
        headers: { Host: 'x' },
        body: 1,
        text: '{{steps.none.result}}',
        expect: [99],
        more: 1,
      }),
      { ...step('/y', { method: 'POST', body: 1, text: 'x', expect: ['1xx'] }), id: 'other' },
    ];
    const { id } = await callOperation('workflows_create', { name: `W ${newId()}`, graph: { steps } });
    const refused = await refusal(callOperation('workflows_publish_version', { id }));
    expect([refused.status, refused.code]).toEqual([422, 'invalid_graph']);
    expect(refused.details?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      'expect[0] invalid_field',
      'more unknown_field',
      'text unknown_step',
      'expect[0] invalid_field',
    ]);
    expect(
      await problems(step('/x', { method: 'TRACE', headers: { Host: 'x' }, text: '{{steps.none.result}}' })),
    ).toEqual([
      { path: 'text', code: 'unknown_step' },
      { path: 'method', code: 'invalid_field' },
      { path: 'headers.Host', code: 'invalid_field' },
    ]);
  });

  test('for a refused address, if that needs no name lookup', async () => {
    const refused = [{ path: 'url', code: 'egress_refused' }];
    for (const url of [
      'http://10.0.0.1/',
      'http://[::1]/{{input.a}}',
      'http://169.254.169.254/latest',
      'http://0x7f.2/',
    ]) {
      expect(await problems({ ...step(''), url }), url).toEqual(refused);
    }
    expect(await problems({ ...step(''), url: 'https://no-such-host.invalid/{{input.a}}' })).toEqual([]);
    expect(await problems({ ...step(''), url: 'http://10.0.0.1{{input.a}}/' })).toEqual([]);
  });

  test('for a connection without the credentials that are sent', async () => {
    const connection_id = await connect({ username: 'ann' });
    const unfit = [{ path: 'connection_id', code: 'connection_unfit' }];
    expect(await problems(step('/echo', { connection_id }))).toEqual(unfit);
    expect(await problems(step('/echo', { connection_id, auth: { type: 'basic' } }))).toEqual(unfit);
    const own = { type: 'header', name: 'X-User', credential: 'username' };
    expect(await problems(step('/echo', { connection_id, auth: own }))).toEqual([]);
  });
});

describe('pages', () => {
  const paged = (pagination: object, path = '/orders') =>
    step(path, { pagination: { items: 'data.orders', ...pagination } });

  test('are read until there is no next one, their items in one list', async () => {
    const all = [10, 11, 20, 21, 30, 31];
    for (const next of ['{{response.body.next}}', '{{response.links.next}}']) {
      expect((await runSteps(paged({ next }))).result).toMatchObject({
        status: 200,
        items: all,
        pages: 3,
        more: false,
      });
    }
    expect((await runSteps(paged({ next: '{{response.links.next}}', max_pages: 2 }))).result).toMatchObject({
      items: [10, 11, 20, 21],
      pages: 2,
      more: true,
      next: `${api.url}/orders?page=3`,
    });
  });

  test('are read by their number, with parameters of the step and of the page before', async () => {
    const { result } = await runSteps(
      step('/orders', {
        query: { status: 'open' },
        pagination: { page: { size: 2 }, max_pages: 2, items: 'data.orders' },
      }),
    );
    expect(result).toMatchObject({ items: [10, 11, 20, 21], more: true, next: `${api.url}/orders?status=open&page=3` });
    const query = { page: '{{response.last_item}}', status: null };
    await runSteps(step('/orders?status=open', { pagination: { query, items: 'data.orders', max_pages: 2 } }));
    expect(lastSeen().path).toBe('/orders?page=11');
  });

  test('fail if no page has the field of the next one', async () => {
    const { error } = await runSteps(paged({ next: '?page={{response.body.next_page}}' }));
    expect(error).toMatchObject({ code: 'pagination_unresolved' });
  });

  test('are each requested with credentials and headers', async () => {
    const connection_id = await connect({ token: SECRET });
    const before = api.seen.length;
    await runSteps({
      ...paged({ next: '{{response.body.next}}' }),
      connection_id,
      headers: { 'X-A': 1 },
      query: { page: 2 },
    });
    const seen = api.seen.slice(before).map(({ path, headers }) => [path, headers.authorization, headers['x-a']]);
    expect(seen).toEqual(['/orders?page=2', '/orders?page=3'].map(path => [path, `Bearer ${SECRET}`, '1']));
  });

  test('that go in a circle, hold no list or leave the origin fail', async () => {
    const circle = step('/circle', { pagination: { next: '{{response.body.next}}', items: 'data' } });
    expect((await runSteps(circle)).error).toMatchObject({ code: 'pagination_loop' });
    const listless = paged({ next: '{{response.body.next}}', items: 'data' });
    expect((await runSteps(listless)).error).toMatchObject({ code: 'pagination_items_missing' });
    const before = other.seen.length;
    const away = paged({ next: `${other.url}/orders?page={{response.body.next}}` });
    expect((await runSteps(away)).error).toMatchObject({ code: 'pagination_origin_refused' });
    expect(other.seen).toHaveLength(before);
  });
});

describe('credentials', () => {
  const basic = Buffer.from(`ann:${SECRET}`).toString('base64');
  test.each<[string, object, object | undefined, object]>([
    ['a bearer token', { token: SECRET }, undefined, { authorization: `Bearer ${SECRET}` }],
    ['an access token', { access_token: SECRET }, { type: 'bearer' }, { authorization: `Bearer ${SECRET}` }],
    ['basic', { username: 'ann', password: SECRET }, undefined, { authorization: `Basic ${basic}` }],
    ['a key in a header', { api_key: SECRET }, { type: 'header', name: 'X-Key' }, { 'x-key': SECRET }],
    ['headers of their names', { 'X-Api-Key': SECRET }, { type: 'header' }, { 'x-api-key': SECRET }],
  ])('are sent as %s and occur in no event', async (_, credentials, auth, sent) => {
    const connection_id = await connect(credentials);
    const { result, events } = await runSteps(step('/echo', { connection_id, auth }));
    expect(lastSeen().headers).toMatchObject(sent);
    expect(result).toMatchObject({ status: 200 });
    expect(JSON.stringify(events)).not.toMatch(new RegExp(`${SECRET}|${basic}`));
  });

  test('replace a header that the step sets', async () => {
    const connection_id = await connect({ 'X-Api-Key': SECRET });
    await runSteps(step('/echo', { connection_id, auth: { type: 'header' }, headers: { 'x-api-key': 'mine' } }));
    expect(lastSeen().headers['x-api-key']).toBe(SECRET);
  });

  test('are sent as a parameter, which no message shows', async () => {
    const connection_id = await connect({ api_key: SECRET });
    const auth = { type: 'query', name: 'key' };
    await runSteps(step('/echo?key=mine', { connection_id, auth, query: { a: 1 } }));
    expect(lastSeen().path).toBe(`/echo?key=${SECRET}&a=1`);
    const { error, events } = await runSteps(step('/missing', { connection_id, auth }));
    expect(error).toMatchObject({ message: expect.stringContaining('no such order at /missing?key=[redacted]') });
    expect(JSON.stringify(events)).not.toContain(SECRET);
    const { rows } = await service.db.pool.query(
      "SELECT count(*)::int AS count FROM run_events WHERE data::text LIKE '%' || $1 || '%'",
      [SECRET],
    );
    expect(rows).toEqual([{ count: 0 }]);
  });

  test('stay behind when a redirect leads to another origin, and follow within one', async () => {
    const connection_id = await connect({ token: SECRET });
    const headers = { 'X-Own': 'secret of the author' };
    await runSteps(step('/to-echo', { connection_id, headers }));
    expect(lastSeen()).toMatchObject({ path: '/echo', headers: { authorization: `Bearer ${SECRET}` } });
    const { result } = await runSteps(step('/to-other', { connection_id, headers, method: 'POST', body: 1 }));
    expect(result).toMatchObject({ status: 200, body: { body: '1' } });
    expect(JSON.stringify(other.seen)).not.toMatch(new RegExp(`${SECRET}|secret of the author`));
  });

  test('are sent only to the origins of their connection', async () => {
    const connection_id = await connect({ token: SECRET }, ['https://api.example.com']);
    const refused = { path: 'connection_id', code: 'credential_origin_refused' };
    expect(await problems(step('/echo', { connection_id }))).toEqual([refused]);
    const before = api.seen.length;
    const { error } = await runWith({ url: api.url }, { ...step(''), url: '{{input.url}}/echo', connection_id });
    expect(error).toMatchObject({ code: 'credential_origin_refused' });
    expect(api.seen).toHaveLength(before);
  });

  test('are those of the run’s own project', async () => {
    const second = await createTestProject(service.container.services, acme, 'second');
    const elsewhere = await connect({ token: SECRET }, [api.url], { contributor: second.contributor });
    const foreign = await connect({ token: SECRET }, [api.url], rival);
    const id = await publish(step('/echo', { connection_id: '{{input.connection}}' }));
    for (const connection of [foreign, elsewhere, newId(), 'x']) {
      const before = api.seen.length;
      const { error } = await outcomeOf(await start(id, { connection }));
      expect(error).toMatchObject({ code: 'unknown_connection' });
      expect(api.seen).toHaveLength(before);
      const found = await problems(step('/echo', { connection_id: connection }));
      expect(found).toEqual([{ path: 'connection_id', code: 'unknown_connection' }]);
    }
  });

  test('that a workflow uses are not deleted without force', async () => {
    const connection_id = await connect({ token: SECRET });
    const workflow = await publish(step('/echo', { connection_id }));
    const usage = await callOperation('connections_usage', { id: connection_id });
    expect(usage.workflows).toMatchObject([{ id: workflow }]);
    await expect(callOperation('connections_delete', { id: connection_id })).rejects.toMatchObject({
      code: 'connection_in_use',
    });
  });
});
