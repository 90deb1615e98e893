import { expect, test, vi } from 'vitest';
import { newId } from '../../server/platform/ids.ts';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { TcpProxy } from '../fixtures/tcp-proxy.ts';

/** The promise for every answer. */
const ANSWER_WITHIN_MS = 15_000;

test('a node that is cut off from the leader answers writes with 503 in time, reads as before, and goes on when it is back', async () => {
  await using db = await createTestDatabase();
  await using installation = await Installation.create({
    DATABASE_URL: db.url,
    BATON_CLUSTER: 'on',
    BATON_SHARDS: '1',
  });
  const port = await freePort();
  await using network = await TcpProxy.start(`http://127.0.0.1:${port}`);
  const leader = await installation.launch(port, { BATON_NODE_URL: network.url });
  await leader.until('ready');
  const other = await installation.launch();
  await other.until('ready');
  for (const node of [leader, other])
    await vi.waitFor(async () => expect((await node.readyz()).body.members).toBe(2), { timeout: 60_000, interval: 50 });

  const send = async ({ url }: Service, method: string, path: string, body?: unknown) => {
    const began = performance.now();
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${installation.pat}`, 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const { code } = (await response.json()) as { code?: string };
    return { status: response.status, code, retry: response.headers.get('Retry-After'), ms: performance.now() - began };
  };
  const create = (node: Service) => {
    const graph = { steps: [{ id: 'a', type: 'condition', depends_on: [], expression: 'true' }] };
    return send(node, 'POST', '/v1/workflows', { name: newId(), graph });
  };
  expect((await create(other)).status).toBe(201);

  network.blackhole();
  const [cut, own, read] = await Promise.all([create(other), create(leader), send(other, 'GET', '/v1/workflows')]);
  expect([own.status, read.status]).toEqual([201, 200]);
  expect(cut).toMatchObject({ status: 503, code: 'outcome_unknown', retry: expect.stringMatching(/^\d+$/) });
  expect(cut.ms).toBeLessThan(ANSWER_WITHIN_MS);
  await vi.waitFor(async () => expect((await other.readyz()).status).toBe(503), { timeout: 60_000, interval: 50 });
  expect((await leader.readyz()).status).toBe(200);

  network.heal();
  await other.until('ready');
  await vi.waitFor(async () => expect((await create(other)).status).toBe(201), { timeout: 60_000, interval: 50 });
});
