import { expect, test } from 'vitest';
import { executeCommand } from '../../domains/runs/start/command.ts';
import { getContext } from '../../domains/runs/values/context.ts';
import { contextFor, createTestTenant } from '../../testing/identity.ts';
import { publishGraph, reached, startTestService } from '../../testing/runs.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { validateGraph } from '../validation/index.ts';
import { STEP_TYPES } from './descriptions.ts';
import { createStepTypes } from './registry.ts';
import { STEP_HELP } from './step-help.ts';

const unused = () => Promise.reject(new Error('Nothing is called here.'));

test('every step type has help, whose example is valid and shows a step of this type', async () => {
  expect(Object.keys(STEP_HELP)).toEqual(Object.keys(STEP_TYPES));
  const luaPool = new LuaPool({ workers: 1 });
  try {
    const types = createStepTypes({
      luaPool,
      requester: { check: async () => [], send: unused },
      tools: { check: async () => [], call: unused },
      models: { check: async () => [], call: unused },
      turns: { check: async () => [], turn: unused, contextWindow: async () => null },
      agentTools: { check: async () => [], offer: unused, problems: () => [] },
      workflows: { check: async () => [], resolve: unused, output: unused },
    });
    for (const [type, { example }] of Object.entries(STEP_HELP)) {
      const report = await validateGraph(example, types, { tenantId: 't', projectId: 'p' });
      expect([type, report]).toEqual([type, { valid: true, errors: [], warnings: [] }]);
      expect(example.steps.find(({ id }) => id === 'example')?.type).toBe(type);
    }
  } finally {
    await luaPool.close();
  }
});

test('the types that often follow a step exist', () => {
  for (const { next } of Object.values(STEP_HELP))
    expect(Object.keys(STEP_TYPES)).toEqual(expect.arrayContaining([...next]));
});

test('the examples without dependencies give the results that the help shows', async () => {
  const service = await startTestService();
  try {
    const { owner } = await createTestTenant(service.services, { slug: 'main' });
    const ctx = contextFor(service.services, owner);
    const shown = Object.values(STEP_HELP).filter(({ run }) => run !== undefined);
    expect(shown.length).toBeGreaterThan(2);
    for (const { example, run } of shown) {
      const id = await publishGraph(service.services, owner, example);
      const params = { trigger_payload: run?.input ?? {} };
      const { run_id } = await executeCommand(ctx, { id, command: 'start', params });
      await reached(service.services, owner, { id, runID: run_id });
      const { steps } = await getContext(ctx, { id, runID: run_id });
      expect(steps.example?.result).toEqual(run?.result);
    }
  } finally {
    await service.close();
  }
});
