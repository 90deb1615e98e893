import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { operation } from '../operation/operation.ts';
import { charge } from '../testing/billing/ledger.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestPat, createTestTenant } from '../testing/identity.ts';
import { createRegistry, NoInput } from './registry.ts';

/** A service with operations whose answer is a file. */
let service: TestContainer;
let token: string;
beforeAll(async () => {
  service = await startTestContainer();
  const { services } = service.container;
  const tenant = await createTestTenant(services, { slug: 'acme' });
  ({ token } = await createTestPat(services, tenant.contributor, ['billing:read']));
  await services.pool.query(`INSERT INTO credit_accounts (tenant_id, created_at) VALUES ('acme', '2026-01-01')`);
  await charge(services.pool, 'acme', 1000, Date.UTC(2026, 0, 1));
});
afterAll(() => service.close());

const path = '/v1/billing/usage-history/export';
const get = (target: string, headers: Record<string, string> = { Authorization: `Bearer ${token}` }) =>
  fetch(service.url + target, { headers });

test('REST sends the file', async () => {
  const response = await get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="billing_usage_export.csv"');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  const [heading, line, ...rest] = (await response.text()).split('\r\n');
  expect(heading).toMatch(/^at,action,/);
  expect(line).toMatch(/^2026-01-01T00:00:00\.000Z,workflow_step,1,1000,1000,/);
  expect(rest).toEqual(['']);
});

test('refusals stay JSON', async () => {
  for (const [target, headers, status] of [
    [path, {}, 401],
    [`${path}?from=yesterday`, undefined, 422],
  ] as const) {
    const response = await get(target, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('content-disposition')).toBeNull();
    expect(await response.json()).toMatchObject({ error: expect.any(String) });
  }
});

test('tRPC gives its text, and OpenAPI says what it is', async () => {
  const answer = await (await get('/api/trpc/billing_usage_export?input=%7B%7D')).json();
  expect(answer.result.data).toMatch(/^at,action,/);
  const document = await (await get('/v1/openapi.json')).json();
  expect(document.paths[path].get.responses['200'].content).toEqual({ 'text/csv': { schema: { type: 'string' } } });
});

test('only a GET that answers with text, and is not a tool, can be a download', () => {
  const download = operation({
    name: 'report',
    method: 'GET',
    path: '/v1/report',
    status: 200,
    tag: 'Test',
    summary: 'A report',
    access: 'member',
    scope: null,
    input: NoInput,
    output: z.string(),
    produces: 'text/csv',
    run: async () => '',
  });
  expect(createRegistry([download]).operations).toHaveLength(1);
  for (const wrong of [
    { method: 'POST' as const },
    { mcp: { group: 'core' as const } },
    { output: z.strictObject({}) },
  ])
    expect(() => createRegistry([{ ...download, ...wrong }])).toThrow('a download is only for');
});
