import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runEndsOf } from '../domains/runs/waiting/run-ends.ts';
import type { Services } from '../operation/services.ts';
import { newId } from '../platform/ids.ts';
import { startTestApi, type TestApi } from '../testing/api.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../testing/identity.ts';
import { asking, publishGraph, type RunningService, startTestService } from '../testing/runs.ts';
import { luaStep as lua } from '../testing/workflows.ts';
import { operations } from './operations.ts';

let service: RunningService;
let services: Services;
let api: TestApi;
let tenant: TestTenant;
let token: string;
/** A workflow with two steps. */
let quick: string;
/** A workflow that waits for a person. */
let slow: string;

beforeAll(async () => {
  service = await startTestService({ BATON_MAX_WAITING_PER_TENANT: '2', BATON_MAX_WAITING: '3' });
  ({ services } = service);
  api = await startTestApi(services, operations);
  tenant = await createTestTenant(services, { slug: 'acme' });
  token = (await createTestPat(services, tenant.contributor, ['workflow:read', 'workflow:run'])).token;
  const steps = [lua('a', 'return input.n'), lua('b', 'return steps.a.result * 2', 'a')];
  quick = await publishGraph(services, tenant.owner, { steps });
  slow = await publishGraph(services, tenant.owner, asking());
});
afterAll(async () => {
  await api.close();
  await service.close();
});

type Options = { query?: string; body?: unknown; token?: string | null; key?: string };
async function run(id: string, { query = '?wait_s=60', body = {}, key, ...given }: Options = {}) {
  const bearer = given.token === undefined ? token : given.token;
  const headers = {
    'Content-Type': 'application/json',
    ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
    ...(key === undefined ? {} : { 'Idempotency-Key': key }),
  };
  const url = `${api.url}/v1/workflows/${id}/run${query}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}
const input = (n: unknown) => ({ params: { n } });
const reserved = () => runEndsOf(services).reserved;
const stop = async (run_id: unknown, workflowId = slow, { tenantId, projectId } = tenant.contributor) => {
  const ref = { tenantId, projectId, workflowId, runId: String(run_id) };
  await services.orchestrator.command(ref, { type: 'stop', mode: 'immediate', by: 'ann@example.com' });
};
/** Stops a run as soon as it exists. */
const stopOnceStarted = (...of: Parameters<typeof stop>) =>
  expect.poll(async () => (await stop(...of).catch(() => 'not yet')) ?? 'stopped').toBe('stopped');

describe('an answer that waits', () => {
  test('has the output of a run that completes', async () => {
    const { status, body } = await run(quick, { body: input(21) });
    expect([status, body]).toEqual([
      200,
      {
        run_id: expect.any(String),
        workflow_id: quick,
        started_at: expect.any(String),
        status: 'completed',
        output: 42,
        output_error: null,
        error: null,
      },
    ]);
    expect(reserved()).toBe(0);
  });

  test('says why a run failed, and that a run was stopped', async () => {
    const failed = await run(quick, { body: input({}) });
    expect(failed).toMatchObject({
      status: 200,
      body: { status: 'failed', output: null, error: { code: 'lua_error', step_id: 'b' } },
    });
    const run_id = newId();
    const waiting = run(slow, { body: { params: { run_id } } });
    await expect.poll(reserved).toBe(1);
    await stopOnceStarted(run_id);
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'stopped', output: null, error: null } });
  });

  test('says why a run that completed has no output', async () => {
    const graph = { steps: [lua('a', 'return {}')], output: '{{steps.a.result.x}}' };
    const { status, body } = await run(await publishGraph(services, tenant.owner, graph));
    expect([status, body]).toMatchObject([
      200,
      { status: 'completed', output: null, output_error: { code: 'template_unresolved' } },
    ]);
  });

  test('has the id of a run that continues when the time is up', async () => {
    const { status, body } = await run(slow, { query: '?wait_s=1' });
    expect([status, body]).toEqual([
      202,
      { run_id: expect.any(String), workflow_id: slow, started_at: expect.any(String), status: 'running' },
    ]);
    expect(reserved()).toBe(0);
    await stop(body.run_id);
  });

  test('is found again by its key if the run has already ended', async () => {
    const key = newId();
    const first = await run(quick, { body: input(1), key });
    const again = await run(quick, { body: input(1), key });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(first.body.output).toBe(2);
  });
});

describe('a request', () => {
  test.each(['', '?wait_s=0'])('with the query "%s" does not wait, and takes no place', async query => {
    const { status, body } = await run(slow, { query });
    expect([status, body.status]).toEqual([202, 'running']);
    await stop(body.run_id);
  });

  test.each(['-1', '61', '1.5', 'soon', '', '1e1'])('with wait_s=%s is 422', async wait => {
    const { status, body } = await run(quick, { query: `?wait_s=${wait}` });
    expect([status, body.details]).toMatchObject([422, [{ path: 'wait_s' }]]);
  });

  test('with wait_s in its body is 422, and so is any other query', async () => {
    const inBody = await run(quick, { query: '', body: { wait_s: 1 } });
    expect([inBody.status, inBody.body.details]).toMatchObject([422, [{ path: 'wait_s' }]]);
    expect((await run(quick, { query: '?params=x' })).status).toBe(422);
  });

  test('needs a token, the scopes and an existing workflow', async () => {
    expect((await run(quick, { token: null })).status).toBe(401);
    const tokenWith = async (...scopes: Parameters<typeof createTestPat>[2]) =>
      (await createTestPat(services, tenant.contributor, scopes)).token;
    expect(await run(quick, { token: await tokenWith('workflow:read') })).toMatchObject({ status: 403 });
    const starter = await tokenWith('workflow:run');
    expect(await run(quick, { token: starter })).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect((await run(quick, { token: starter, query: '?wait_s=0', body: input(1) })).status).toBe(202);
    const stranger = await createTestTenant(services, { slug: `rival-${newId().slice(-6)}` });
    const theirs = await createTestPat(services, stranger.contributor, ['workflow:read', 'workflow:run']);
    expect((await run(quick, { token: theirs.token })).status).toBe(404);
    expect((await run(newId())).status).toBe(404);
    const draft = { ...asking(), input_schema: { required: ['who'] } };
    const strict = await publishGraph(services, tenant.owner, draft);
    expect(await run(strict)).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
    expect(reserved()).toBe(0);
  });
});

describe('the number of requests that wait', () => {
  const countRuns = async () => Number((await service.db.pool.query('SELECT count(*) FROM runs')).rows[0].count);

  test('is limited per workspace and in total, and a refused one starts nothing', async () => {
    const ids = [newId(), newId()];
    const waiting = ids.map(run_id => run(slow, { body: { params: { run_id } } }));
    await expect.poll(reserved).toBe(2);
    const present = () => service.db.pool.query('SELECT FROM runs WHERE id = ANY($1::uuid[])', [ids]);
    await expect.poll(async () => (await present()).rowCount).toBe(2);
    const before = await countRuns();
    const refused = await run(quick, { body: input(1) });
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_waiting']);
    expect(refused.headers.get('retry-after')).toBe('1');

    const other = await createTestTenant(services, { slug: `other-${newId().slice(-6)}` });
    const theirs = await createTestPat(services, other.contributor, ['workflow:read', 'workflow:run']);
    const own = await publishGraph(services, other.owner, asking());
    const run_id = newId();
    const third = run(own, { token: theirs.token, body: { params: { run_id } } });
    await expect.poll(reserved).toBe(3);
    expect((await run(own, { token: theirs.token })).body.code).toBe('too_many_waiting');
    await stopOnceStarted(run_id, own, other.contributor);
    expect((await third).body.status).toBe('stopped');
    expect(await countRuns()).toBe(before + 1);
    for (const id of ids) await stopOnceStarted(id);
    expect((await Promise.all(waiting)).map(({ body }) => body.status)).toEqual(['stopped', 'stopped']);
    expect(reserved()).toBe(0);
  });

  test('falls when a client disconnects, and the run continues', async () => {
    const run_id = newId();
    const url = `${api.url}/v1/workflows/${slow}/run?wait_s=60`;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = request(url, { method: 'POST', headers }).on('error', () => undefined);
    sent.end(JSON.stringify({ params: { run_id } }));
    await expect.poll(reserved).toBe(1);
    const status = async () =>
      (await service.db.pool.query('SELECT status FROM runs WHERE id = $1', [run_id])).rows[0]?.status;
    await expect.poll(status).toBe('running');
    sent.destroy();
    await expect.poll(reserved).toBe(0);
    expect(await status()).toBe('running');
    await stop(run_id);
  });
});
