import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../operation/context.ts';
import { STEP_TYPES } from '../../orchestrator/steps/descriptions.ts';
import { createTestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { call, contextFor, createServicesWithSteps, refusal } from '../../testing/workflows.ts';
import { autopilotOperations } from './operations.ts';

const { autopilot_describe_step_types: describe } = operationsByName(autopilotOperations);

let db: TestDatabase;
let ctx: Context;
let close: () => Promise<void>;
beforeAll(async () => {
  db = await createTestDatabase();
  const made = createServicesWithSteps(db);
  close = made.close;
  ctx = contextFor(made.services, (await createTestTenant(made.services, { slug: 'acme' })).viewer);
});
afterAll(async () => {
  await close();
  await db.close();
});

test('lists exactly the types that a person can write', async () => {
  const { step_types } = await call(describe, ctx, {});
  expect(step_types.map(({ type }) => type).sort()).toEqual(Object.keys(STEP_TYPES).sort());
  for (const each of step_types) expect(each).not.toHaveProperty('fields');
  // No model is configured in this test.
  expect(step_types.filter(({ available }) => available).map(({ type }) => type)).not.toContain('llm_call');
});

test.each(Object.keys(STEP_TYPES))('%s is described with its fields and an example', async type => {
  const { step_types } = await call(describe, ctx, { type });
  expect(step_types).toMatchObject([{ type, fields: { type: 'object' }, example: { steps: expect.any(Array) } }]);
  for (const { fields, common_fields, example } of step_types) {
    const names = [fields, common_fields].flatMap(schema => Object.keys((schema?.properties ?? {}) as object));
    const step = example?.steps.find(({ id }) => id === 'example') ?? {};
    expect(names).toEqual(expect.arrayContaining(Object.keys(step)));
  }
});

test('a type that only the service writes is not found', async () => {
  for (const type of ['stand_in', 'agent_turn', 'constructor', '']) {
    expect(await refusal(call(describe, ctx, { type }))).toMatchObject({ status: 404 });
  }
});
