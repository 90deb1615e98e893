import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { contextFor } from '../../testing/workflows.ts';
import { createModelKey } from '../models/keys.ts';
import { getContext } from '../runs/values/context.ts';
import { getWorkflow } from '../workflows/get.ts';
import { validate } from '../workflows/validate.ts';
import { seedOrderExample } from './order-example.ts';

let service: TestContainer;
let demoUrl: string;

beforeAll(async () => {
  service = await startTestContainer({ BATON_DEMO_MCP: 'true', BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' });
  demoUrl = `${service.url}/demo/mcp`;
});
afterAll(() => service.close());

const tenantOf = (slug: string): Promise<TestTenant> => createTestTenant(service.container.services, { slug });

test('without a model key the order is billed by the demo server, and seeding again adds nothing', async () => {
  const ctx = contextFor(service.container.services, (await tenantOf('main')).owner);
  const seeded = await seedOrderExample(ctx, demoUrl);
  const run = { id: seeded.workflowId, runID: seeded.runId };
  const { steps } = await getContext(ctx, run);
  expect(steps.answer?.result).toMatchObject({
    invoice: expect.stringMatching(/^INV-[0-9A-F]{8}$/),
    total: 1_493,
    currency: 'SEK',
    in_euro: expect.closeTo(137.99, 1),
    note: 'Thank you for your order, Lindgren & Co.',
  });
  expect(await validate(ctx, { id: seeded.workflowId })).toMatchObject({ valid: true, errors: [] });
  expect(await seedOrderExample(ctx, demoUrl)).toEqual(seeded);
});

test('with a model key the note is written by its model', async () => {
  const ctx = contextFor(service.container.services, (await tenantOf('keyed')).owner);
  await createModelKey(ctx, {
    name: 'Local',
    provider: 'openai_compatible',
    api_key: 'k',
    base_url: `${service.url}/v1`,
    models: ['tiny'],
  });
  // No model answers here, so the run fails; the test only reads the workflow.
  const { workflowId } = await seedOrderExample(ctx, demoUrl);
  const { graph } = await getWorkflow(ctx, { id: workflowId });
  expect(graph.steps.find(({ id }) => id === 'note')).toMatchObject({
    disabled: false,
    model: 'openai_compatible/tiny',
  });
});
