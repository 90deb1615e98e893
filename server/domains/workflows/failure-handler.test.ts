import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { newId } from '../../platform/ids.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { publishGraph, type RunningService, startTestService } from '../../testing/runs.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { validateDraft } from './validate.ts';

let running: RunningService;
let services: Services;
let acme: TestTenant;
let globex: TestTenant;
beforeAll(async () => {
  running = await startTestService();
  services = running.services;
  acme = await createTestTenant(services, { slug: 'acme' });
  globex = await createTestTenant(services, { slug: 'globex' });
});
afterAll(() => running.close());

const steps = [{ id: 'only', type: 'lua_script', script: 'return 1' }];
const publish = (owner = acme.owner) => publishGraph(services, owner, { steps });

async function problems(workflow_id: string, ownId?: string): Promise<string[]> {
  const { tenantId, projectId } = acme.owner;
  const draft = { graph: { steps, on_failure: { workflow_id } }, runSetup: {} };
  const { valid, errors } = await validateDraft(services, draft, { tenantId, projectId, workflowId: ownId ?? newId() });
  expect(valid).toBe(errors.length === 0);
  return errors.map(({ path, code }) => `${path}: ${code}`);
}

test('on_failure names a published workflow of the project, but not the workflow itself', async () => {
  const handler = await publish();
  expect(await problems(handler)).toEqual([]);
  expect(await problems(handler.toUpperCase())).toEqual([]);
  expect(await problems(handler, handler)).toEqual(['on_failure.workflow_id: workflow_cycle']);
  expect(await problems('x')).toEqual(['on_failure.workflow_id: invalid_field']);

  const unknown = ['on_failure.workflow_id: workflow_unknown'];
  const { contributor } = await createTestProject(services, acme, 'elsewhere');
  for (const id of [newId(), await publish(globex.owner), await publish(contributor)]) {
    expect(await problems(id)).toEqual(unknown);
  }
  await services.pool.query('UPDATE workflows SET latest_version = NULL WHERE id = $1', [handler]);
  expect(await problems(handler)).toEqual(['on_failure.workflow_id: workflow_unpublished']);
  await services.pool.query(`UPDATE workflows SET status = 'archived' WHERE id = $1`, [handler]);
  expect(await problems(handler)).toEqual(['on_failure.workflow_id: workflow_archived']);
});
