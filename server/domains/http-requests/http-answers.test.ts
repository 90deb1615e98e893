import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../../api/operations.ts';
import { newId } from '../../platform/ids.ts';
import { startBlockedPort } from '../../testing/blocked-port.ts';
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

type Event = { event_type: string; step_id?: string; data: Record<string, unknown> };

let service: TestContainer;
let acme: TestTenant;
let api: TestHttpServer;
let call: ReturnType<typeof createCall<typeof operations>>;

const bytes =
  (type: string, body: string | Buffer): Handler =>
  (_, response) =>
    void response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);

beforeAll(async () => {
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' });
  api = await startHttpServer({
    '/csv': bytes('application/octet-stream', 'id,name\n1,Gr\u00fc\u00dfe'),
    '/png': bytes('image/png', Buffer.from('89504e470d0a1a0a', 'hex')),
    '/untyped': bytes('', '{"a":1}'),
    '/echo': ({ method, headers, body }, response) => json({ method, headers, body })({} as SeenRequest, response),
    '/created': (_, response) =>
      void response.writeHead(201, { 'content-type': 'application/json', location: '/orders/7' }).end('{"id": 7'),
    '/refused': json({ code: 'E42', reason: 'no stock' }, 422, { 'x-request-id': 'r1' }),
  });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  call = createCall(service.container.services, operations);
});
afterAll(async () => {
  await service.close();
  await api.close();
});

const act = async (name: (typeof operations)[number]['name'], input: object) =>
  (await call(acme.contributor, name, input)) as Record<string, unknown>;
const step = (path: string, more: object = {}) => ({
  id: 'send',
  type: 'http_request',
  url: `${api.url}${path}`,
  retry_delay_s: 0,
  ...more,
});

async function run(...steps: object[]) {
  const { id } = await act('workflows_create', { name: `W ${newId()}`, graph: { steps } });
  await act('workflows_publish_version', { id });
  const started = await act('workflows_execute_command', { id, command: 'start', params: { trigger_payload: {} } });
  const ref = { id: String(id), runID: String(started.run_id) };
  await reached(service.container.services, acme.contributor, ref);
  const events = (await act('runs_list_events', { ...ref, limit: 200 })).events as Event[];
  const resultOf = (step: string) =>
    events.find(({ event_type, step_id }) => event_type === 'step_completed' && step_id === step)?.data.result;
  const errorOf = (step: string) =>
    events.find(({ event_type, step_id }) => event_type === 'step_failed' && step_id === step)?.data.error;
  return { ref, events, resultOf, errorOf };
}
const lua = (script: string, more: object = {}) => ({ id: 'read', type: 'lua_script', script, ...more });

describe('an http_request reads its response', () => {
  test.each<[string, object, object]>([
    ['/csv', {}, { body: 'id,name\n1,Gr\u00fc\u00dfe' }],
    ['/png', {}, { body: 'iVBORw0KGgo=', encoding: 'base64' }],
    ['/untyped', {}, { body: '{"a":1}' }],
    ['/untyped', { response: 'json' }, { body: { a: 1 } }],
    ['/refused', { response: 'text', expect: [422] }, { status: 422, body: '{"code":"E42","reason":"no stock"}' }],
    ['/csv', { response: 'bytes' }, { encoding: 'base64' }],
  ])('%s with %j', async (path, fields, expected) => {
    expect((await run(step(path, fields))).resultOf('send')).toMatchObject({
      status: 200,
      ...expected,
    });
  });

  test('and bytes can be read by a script and an expression', async () => {
    const { resultOf } = await run(
      step('/png'),
      lua('return base64.decode({{steps.send.result.body}}):sub(2, 4)', { depends_on: ['send'] }),
      {
        id: 'is_png',
        type: 'condition',
        expression: 'base64.decode(steps.send.result.body) == hex.decode("89504e470d0a1a0a")',
        depends_on: ['send'],
      },
    );
    expect(resultOf('read')).toBe('PNG');
    expect(resultOf('is_png')).toMatchObject({ value: true });
  });

  test('from a port that the Fetch standard blocks', async () => {
    const blocked = await startBlockedPort(api.url);
    const { resultOf } = await run({ ...step(''), url: `${blocked.url}/csv` });
    expect(resultOf('send')).toMatchObject({ status: 200 });
    await blocked.close();
  });
});

describe('an http_request sends', () => {
  test('numbers, booleans and null of multipart as fields, objects as files', async () => {
    const multipart = [
      { name: 'count', value: 7 },
      { name: 'paid', value: true },
      { name: 'note', value: null },
      { name: 'big', value: 1.5e300 },
      { name: 'data', value: { a: 1 } },
      { name: 'typed', value: 7, content_type: 'text/plain' },
    ];
    await run(step('/echo', { method: 'POST', multipart }));
    const { headers, body } = api.seen.at(-1) as SeenRequest;
    const sent = await new Response(Buffer.from(body, 'latin1'), {
      headers: { 'content-type': String(headers['content-type']) },
    }).formData();
    const fields = ['count', 'paid', 'note', 'big'].map(name => sent.get(name));
    expect(fields).toEqual(['7', 'true', 'null', '1.5e+300']);
    expect(await (sent.get('data') as File).text()).toBe('{"a":1}');
    expect([(sent.get('typed') as File).type, await (sent.get('typed') as File).text()]).toEqual(['text/plain', '7']);
  });

  test('a body with GET, if the author allows it', async () => {
    const { resultOf } = await run(step('/echo', { body: { query: 'x' }, body_with_get: true }));
    expect(resultOf('send')).toMatchObject({ body: { method: 'GET', body: '{"query":"x"}' } });
    const graph = {
      steps: [step('/echo', { body: 1 }), step('/echo', { id: 'head', method: 'HEAD', body: 1, body_with_get: true })],
    };
    const { id } = await act('workflows_create', { name: `W ${newId()}`, graph });
    const { errors } = await act('workflows_validate', { id });
    expect(errors).toMatchObject([
      { path: 'body', code: 'body_not_allowed' },
      { path: 'body', code: 'body_not_allowed' },
    ]);
  });
});

describe('what a server answered', () => {
  test('is kept after a POST whose answer cannot be read, and the request is not sent again', async () => {
    const before = api.seen.length;
    const { resultOf } = await run(
      step('/created', { method: 'POST', body: {}, retry_count: 3 }),
      lua('return { at = steps.send.result.headers.location, why = steps.send.result.unread.code }', {
        depends_on: ['send'],
      }),
    );
    expect(resultOf('send')).toMatchObject({
      status: 201,
      body: null,
      unread: { code: 'response_malformed', beginning: '{"id": 7' },
    });
    expect(resultOf('read')).toEqual({ at: '/orders/7', why: 'response_malformed' });
    expect(api.seen.length - before).toBe(1);
  });

  test('is in the details of an error, in every view of the run and for later steps', async () => {
    const { ref, errorOf, resultOf } = await run(
      step('/refused', { method: 'POST', body: {}, on_error: 'continue' }),
      lua('return steps.send.error.details.body.code .. {{steps.send.error.details.status}}', { depends_on: ['send'] }),
      {
        id: 'is_e42',
        type: 'condition',
        expression: 'steps.send.error.details.body.code == "E42"',
        depends_on: ['send'],
      },
    );
    const details = { status: 422, headers: { 'x-request-id': 'r1' }, body: { code: 'E42', reason: 'no stock' } };
    expect(errorOf('send')).toMatchObject({ code: 'unexpected_status', details });
    expect(resultOf('read')).toBe('E42422');
    expect(resultOf('is_e42')).toMatchObject({ value: true });
    for (const view of ['runs_get_summary', 'runs_get_snapshot'] as const) {
      const { steps } = (await act(view, ref)) as { steps: { step_id: string }[] };
      const shown = steps.find(({ step_id }) => step_id === 'send');
      expect(shown, view).toMatchObject({ error: { code: 'unexpected_status', details } });
    }
  });

  test('a table that a script raises is in the details as well', async () => {
    const { errorOf, ref } = await run(lua('error({code = "E42", message = "no stock"})'));
    const error = { code: 'lua_error', message: 'no stock', details: { code: 'E42', message: 'no stock' } };
    expect(errorOf('read')).toEqual(error);
    const summary = await act('runs_get_summary', ref);
    expect(summary).toMatchObject({
      error: { code: 'lua_error', message: 'no stock', step_id: 'read' },
      steps: [{ error }],
    });
  });
});
