import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes } from '../../../orchestrator/ports/authority.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestPat, createTestTenant } from '../../../testing/identity.ts';
import { auditLedger } from './audit-store.ts';

/** The whole service, which makes charges; the test audits the rows that it wrote. */
let service: TestContainer;
let token: string;
beforeAll(async () => {
  service = await startTestContainer();
  const { services } = service.container;
  const tenant = await createTestTenant(services, { slug: 'acme' });
  ({ token } = await createTestPat(services, tenant.owner, scopes));
});
afterAll(() => service.close());

const request = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(service.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return response.json();
};

test('the costs of completed, failed and retried runs agree in events, usage and ledger', async () => {
  const graph = {
    steps: [
      { id: 'a', type: 'condition', expression: 'true' },
      {
        id: 'b',
        type: 'condition',
        expression: 'input.fails',
        mode: 'validate',
        depends_on: ['a'],
        retry_count: 1,
        retry_delay_s: 0,
      },
      { id: 'c', type: 'condition', expression: 'true', depends_on: ['b'] },
    ],
  };
  const { id } = await request('POST', '/v1/workflows', { name: 'Charged', graph });
  await request('POST', `/v1/workflows/${id}/versions`, { changelog: '' });
  for (let n = 0; n < 20; n++)
    await request('POST', `/v1/workflows/${id}/command`, { command: 'start', params: { fails: n % 2 === 0 } });
  const { pool } = service.container.services;
  await expect.poll(async () => (await pool.query('SELECT FROM runs WHERE ended_at IS NOT NULL')).rowCount).toBe(20);
  const report = await auditLedger(pool, { now: Date.now() });
  expect(report).toMatchObject({
    tenants: 1,
    runs: { compared: 20, withoutUsage: 0, dropped: 0 },
    differences: [],
    notes: [],
  });
  const { rows } = await pool.query(
    'SELECT sum(credits_microcredits) AS credits, count(DISTINCT credits_microcredits)::int AS kinds FROM runs',
  );
  expect(Number(rows[0].credits)).toBeGreaterThan(0);
  expect(rows[0].kinds).toBeGreaterThan(1);
  const { total_remaining_microcredits: left } = await request('GET', '/v1/billing/usage');
  expect(left).toBe(10_000_000_000 - Number(rows[0].credits));
});
