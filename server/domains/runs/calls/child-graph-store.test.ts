import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { asking, publishGraph } from '../../../testing/runs.ts';
import { insertRun } from '../../../testing/workflows.ts';
import { findGraphOfRun } from './child-graph-store.ts';

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let rival: TestTenant;

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db);
  acme = await createTestTenant(services, { slug: 'acme' });
  rival = await createTestTenant(services, { slug: 'rival' });
});
afterAll(() => db.close());

test('runs of a version share its graph, and no other project sees it', async () => {
  const [first, second] = [asking({ instructions: 'First?' }), asking({ instructions: 'Second?' })];
  const workflows = [
    await publishGraph(services, acme.owner, first),
    await publishGraph(services, acme.owner, second),
  ] as const;
  const runOf = async (workflowId: string) => ({
    workflowId,
    runId: await insertRun(services, { ...acme, workflowId }),
  });
  const runs = [await runOf(workflows[0]), await runOf(workflows[1]), await runOf(workflows[0])] as const;
  const find = ({ tenantId, projectId }: TestTenant, run: { workflowId: string; runId: string }) =>
    findGraphOfRun(db.pool, { tenantId, projectId, ...run });
  let roundTrips = 0;
  const count = () => {
    roundTrips += 1;
  };
  db.pool.on('acquire', count);
  const found = await Promise.all([
    find(acme, runs[0]),
    find(acme, runs[1]),
    find(rival, runs[0]),
    find(acme, runs[2]),
    find(acme, { ...runs[0], workflowId: workflows[1] }),
    find(acme, { ...runs[0], runId: newId() }),
  ]);
  db.pool.off('acquire', count);
  expect(found).toEqual([first, second, null, first, null, null]);
  // One round trip for the version of the first run and one for the versions of all others; then one for the graph of
  // the first run, and one for each workflow.
  expect(roundTrips).toBeLessThanOrEqual(5);
});
