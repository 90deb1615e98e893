import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { asking, publishGraph } from '../../../testing/runs.ts';
import { createTestProject } from '../../../testing/workflows.ts';
import { archiveWorkflow } from '../../workflows/queries.ts';
import { findStartable } from './startable-store.ts';

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

test('concurrent lookups share round trips, and each sees only its own project', async () => {
  const ours = await publishGraph(services, acme.owner, asking(), { trigger_payload: { whose: 'ours' } });
  const theirs = await publishGraph(services, rival.owner, asking(), { trigger_payload: { whose: 'theirs' } });
  const second = await createTestProject(services, acme, 'second');
  const beside = { tenantId: acme.tenantId, projectId: second.projectId };
  let roundTrips = 0;
  const count = () => {
    roundTrips += 1;
  };
  db.pool.on('acquire', count);
  const found = await Promise.all(
    Array.from({ length: 20 }, () => [
      findStartable(db.pool, { ...acme, workflowId: ours }),
      findStartable(db.pool, { ...acme, workflowId: theirs }),
      findStartable(db.pool, { ...rival, workflowId: theirs }),
      findStartable(db.pool, { ...rival, workflowId: ours }),
      findStartable(db.pool, { ...beside, workflowId: ours }),
    ]).flat(),
  );
  db.pool.off('acquire', count);
  const published = (whose: string) => ({
    status: 'published',
    is_disabled: false,
    latest_version: 1,
    run_setup: { trigger_payload: { whose } },
  });
  const five = [published('ours'), null, published('theirs'), null, null];
  expect(found).toEqual(Array.from({ length: 20 }, () => five).flat());
  expect(roundTrips).toBe(2);
});

test('a workflow that is archived during other lookups is archived for the next one', async () => {
  const workflowId = await publishGraph(services, acme.owner, asking());
  const before = Array.from({ length: 5 }, () => findStartable(db.pool, { ...acme, workflowId }));
  await archiveWorkflow(db.pool, acme, { id: workflowId, kind: 'workflow', at: new Date(services.clock.now()) });
  await expect(findStartable(db.pool, { ...acme, workflowId })).resolves.toMatchObject({ status: 'archived' });
  await Promise.all(before);
});
