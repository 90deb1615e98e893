import { encode } from 'next-auth/jwt';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pendingTasksInput, readFilter } from '../../components/inbox/inbox-filter.ts';
import { runListInput } from '../../components/runs/feed/read-run-filters.ts';
import { SCOPE_COOKIE } from '../../components/trpc/scope.ts';
import { workflowListInput } from '../../components/workflows/list-input.ts';
import { createWorkflow } from '../../server/domains/workflows/create.ts';
import { workflowOperations } from '../../server/domains/workflows/operations.ts';
import { startTestContainer, type TestContainer } from '../../server/testing/container.ts';
import { createTestTenant, type TestTenant } from '../../server/testing/identity.ts';
import { operationsByName } from '../../server/testing/operations.ts';
import { call, chain, contextFor, insertRun } from '../../server/testing/workflows.ts';
import { readerOf, readFirst, readRunFirst } from './read-first.ts';

/** The request that the mocked functions of Next read. */
let nextRequest: { cookie?: string; path?: string; scope?: string };
vi.mock('next/headers', () => ({
  headers: async () =>
    new Headers({
      'x-baton-client-address': '192.0.2.7',
      'x-console-path': nextRequest.path ?? '/workflows',
      ...(nextRequest.cookie ? { cookie: nextRequest.cookie } : {}),
    }),
  cookies: async () => ({ get: (name: string) => (name === SCOPE_COOKIE ? { value: nextRequest.scope } : undefined) }),
}));

let service: TestContainer;
let north: TestTenant;
let south: TestTenant;
beforeAll(async () => {
  service = await startTestContainer();
  const { services } = service.container;
  [north, south] = [
    await createTestTenant(services, { slug: 'north' }),
    await createTestTenant(services, { slug: 'south' }),
  ];
  for (const name of ['Orders', 'Refunds']) await createWorkflow(contextFor(services, north.owner), { name });
  await createWorkflow(contextFor(services, south.owner), { name: 'Secrets of the south' });
});
afterAll(() => service.close());

async function signInAs(
  { userId }: TestTenant['owner'],
  request: Omit<typeof nextRequest, 'cookie'> = {},
): Promise<void> {
  const secret = service.container.identity.sessionSecret;
  const session = await encode({ secret, token: { sub: userId, sessionEpoch: 0 } });
  nextRequest = { cookie: `next-auth.session-token=${session}`, ...request };
}
const workflows = async (query: string) => {
  const input = workflowListInput(readerOf(Object.fromEntries(new URLSearchParams(query))));
  const first = await readFirst('workflows_list', input);
  return first && { ...first, data: first.data.workflows.map(({ name }) => name).sort() };
};

test('a page starts with the data that its user may read, filtered by its address', async () => {
  await signInAs(north.viewer);
  expect(await workflows('')).toMatchObject({
    input: { limit: 50, graphs: false },
    scope: { tenant: 'north', project: north.projectId },
    data: ['Orders', 'Refunds'],
  });
  expect(await workflows('q=refu&status=nothing')).toMatchObject({ input: { q: 'refu' }, data: ['Refunds'] });
  expect((await workflows('status=archived'))?.data).toEqual([]);
  expect(
    (
      await readFirst(
        'runs_list_tenant',
        runListInput(() => ''),
      )
    )?.data.runs,
  ).toEqual([]);
  const everything = pendingTasksInput(readFilter(new URLSearchParams()), north.viewer.email);
  expect((await readFirst('tasks_list_pending', everything))?.data.tasks).toEqual([]);
});

test('the page of a run starts with its state and the steps of its version, unless it has more than 500 steps', async () => {
  const { services } = service.container;
  const { projectId, tenantId } = north;
  const runOf = async (steps: number) => {
    const ids = Array.from({ length: steps }, (_, index) => `s${index}`);
    const { id } = await createWorkflow(contextFor(services, north.owner), { name: `${steps}`, graph: chain(...ids) });
    const { workflows_publish_version: publish } = operationsByName(workflowOperations);
    await call(publish, contextFor(services, north.owner), { id, changelog: 'First' });
    const run = await insertRun(services, { tenantId, projectId, workflowId: id });
    return () => readRunFirst(id, run);
  };
  const [small, large] = [await runOf(2), await runOf(501)];
  await signInAs(north.viewer);
  const { snapshot, version } = await small();
  expect(snapshot).toMatchObject({ scope: { tenant: 'north' }, data: { status: 'completed' } });
  expect(version?.data.graph_snapshot.steps.map(step => step.id)).toEqual(['s0', 's1']);
  const nothing = { snapshot: null, version: null };
  expect(await large()).toEqual(nothing);
  await signInAs(south.owner);
  expect(await small()).toEqual(nothing);
});

test('the path and the cookie of a request cannot select a workspace of other members', async () => {
  await signInAs(south.owner, {
    path: `/workflows?tenant=north&project=${north.projectId}`,
    scope: `north:${north.projectId}`,
  });
  expect(await workflows('')).toMatchObject({ scope: { tenant: 'south' }, data: ['Secrets of the south'] });
});

test('without a session, or if the service refuses, the browser sends the query', async () => {
  nextRequest = {};
  expect(await workflows('')).toBeNull();
  await signInAs(north.owner);
  expect(await workflows('cursor=nonsense')).toBeNull();
});
