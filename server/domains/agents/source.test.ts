import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attempt } from '../../orchestrator/ports/step-type.ts';
import { newId } from '../../platform/ids.ts';
import { type AgentService, startAgentService } from '../../testing/agents.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { call, contextFor } from '../../testing/workflows.ts';
import { workflowOperations } from '../workflows/operations.ts';
import { agentOperations } from './operations.ts';
import { createAgentSource } from './source.ts';

const agents = operationsByName(agentOperations);
const workflows = operationsByName(workflowOperations);
const NEVER = new AbortController().signal;

let service: AgentService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startAgentService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const runIn = ({ tenantId, projectId }: { tenantId: string; projectId: string }): Attempt['run'] => ({
  id: newId(),
  workflowId: newId(),
  version: 1,
  tenantId,
  projectId,
});

test('an agent of the project is found with the settings of its latest version', async () => {
  const ctx = contextFor(service.services, tenant.owner);
  const source = createAgentSource(service.services);
  const { id } = await call(agents.agents_create, ctx, { name: 'Support', model: 'openai/gpt-5' });
  await call(agents.agents_patch, ctx, { id, instructions: 'Be brief.' });
  const found = await source.resolve(runIn(tenant), id.toUpperCase(), NEVER);
  expect(found).toMatchObject({
    kind: 'agent',
    agentId: id,
    version: 2,
    settings: { model: 'openai/gpt-5', instructions: 'Be brief.' },
  });
  expect(Object.keys(found.kind === 'agent' ? found.settings : {})).not.toContain('prompt');
  expect(await source.check(tenant, id)).toEqual([]);
});

test('a step can be published with a disabled agent, but not with an archived one; neither can be used', async () => {
  const ctx = contextFor(service.services, tenant.owner);
  const source = createAgentSource(service.services);
  const { id } = await call(agents.agents_create, ctx, { name: 'Support', model: 'openai/gpt-5' });
  await call(agents.agents_patch, ctx, { id, status: 'disabled' });
  expect(await source.check(tenant, id)).toEqual([]);
  expect(await source.resolve(runIn(tenant), id, NEVER)).toMatchObject({ kind: 'failed', code: 'agent_disabled' });
  await call(agents.agents_archive, ctx, { id });
  expect(await source.check(tenant, id)).toMatchObject([{ path: 'agent_id', code: 'agent_archived' }]);
  expect(await source.resolve(runIn(tenant), id, NEVER)).toMatchObject({ kind: 'failed', code: 'agent_archived' });
});

test('other workflows and agents of other projects are not found', async () => {
  const ctx = contextFor(service.services, tenant.owner);
  const source = createAgentSource(service.services);
  const rival = await createTestTenant(service.services, { slug: 'rival' });
  const { id } = await call(agents.agents_create, ctx, { name: 'Support', model: 'openai/gpt-5' });
  const workflow = await call(workflows.workflows_create, ctx, { name: 'Plain' });
  for (const [scope, agent] of [
    [rival, id],
    [tenant, workflow.id],
    [tenant, newId()],
    [tenant, 'support'],
  ] as const) {
    expect(await source.check(scope, agent)).toMatchObject([{ code: 'agent_not_found' }]);
    expect(await source.resolve(runIn(scope), agent, NEVER)).toMatchObject({ code: 'agent_not_found' });
  }
});
