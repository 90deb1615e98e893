import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type AnyOperation, operation } from '../operation/operation.ts';
import { systemClock } from '../platform/clock.ts';
import { RequestTurns } from '../platform/request-turns.ts';
import { startTestApi, type TestApi } from '../testing/api.ts';
import { createTestPat, createTestServices, createTestTenant } from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';

/** The active requests. The test ends each with `end`. */
const activeRequests: { tenantId: string; end: () => void }[] = [];
const holding = operation({
  name: 'things_hold',
  tag: 'Things',
  summary: 'For tests',
  scope: 'workflow:read',
  method: 'GET',
  path: '/v1/things',
  status: 200,
  access: 'project_viewer',
  input: z.strictObject({}),
  output: z.strictObject({}),
  async run({ principal: { tenantId } }) {
    const { promise, resolve } = Promise.withResolvers<void>();
    activeRequests.push({ tenantId, end: resolve });
    await promise;
    return {};
  },
}) satisfies AnyOperation;

let db: TestDatabase;
let api: TestApi;
let tokens: { acme: string; other: string };

beforeAll(async () => {
  db = await createTestDatabase();
  // No alarm: a request counts for as long as it takes.
  const requestTurns = new RequestTurns({ clock: systemClock, alarm: () => () => undefined });
  const services = createTestServices(db, { requestTurns });
  api = await startTestApi(services, [holding]);
  const tokenOf = async (slug: string) => {
    const { viewer } = await createTestTenant(services, { slug });
    return (await createTestPat(services, viewer, ['workflow:read'])).token;
  };
  tokens = { acme: await tokenOf('acme'), other: await tokenOf('other') };
});
afterAll(async () => {
  await api.close();
  await db.close();
});
beforeEach(() => void activeRequests.splice(0));

const send = (path: string, token: string) =>
  fetch(api.url + path, { headers: { Authorization: `Bearer ${token}` } }).then(({ status }) => status);
const countOf = (tenantId: string) => activeRequests.filter(request => request.tenantId === tenantId).length;

test.each([
  ['REST', '/v1/things'],
  ['tRPC', '/api/trpc/things_hold?input=%7B%7D'],
])('over %s, requests of one workspace take turns while another one is present', async (_, path) => {
  const sent = [send(path, tokens.other)];
  await vi.waitFor(() => expect(countOf('other')).toBe(1));
  for (let n = 0; n < 6; n++) sent.push(send(path, tokens.acme));
  await vi.waitFor(() => expect(countOf('acme')).toBe(4));
  // Without turns, a fifth request of acme would have started before this request.
  sent.push(send(path, tokens.other));
  await vi.waitFor(() => expect(countOf('other')).toBe(2));
  expect(countOf('acme')).toBe(4);
  for (let ended = 0; ended < 8; ended++) {
    await vi.waitFor(() => expect(activeRequests.length).toBeGreaterThan(ended));
    activeRequests[ended]?.end();
  }
  expect(await Promise.all(sent)).toEqual(sent.map(() => 200));
});
