import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../testing/runs.ts';
import { call, contextFor } from '../../testing/workflows.ts';
import { runOperations } from './operations.ts';

const {
  workflows_execute_command: command,
  runs_get_summary: summary,
  runs_get_context: context,
} = operationsByName(runOperations);

let service: RunningService;
let tenant: TestTenant;
beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
});
afterAll(() => service.close());

const as = () => contextFor(service.services, tenant.contributor);
const lua = (id: string, script: string, depends_on: string[] = [], more: object = {}) => ({
  id,
  type: 'lua_script',
  script,
  depends_on,
  ...more,
});

async function run(...steps: { id: string; type: string; [field: string]: unknown }[]) {
  const id = await publishGraph(service.services, tenant.owner, { steps: steps as never });
  const { run_id: runID } = await call(command, as(), { id, command: 'start', params: {} });
  await reached(service.services, tenant.owner, { id, runID });
  const found = {
    summary: await call(summary, as(), { id, runID }),
    context: await call(context, as(), { id, runID }),
  };
  return { ...found, result: (step: string) => found.context.steps[step]?.result };
}

test('dependents read the error in scripts, templates and expressions; the run completes', async () => {
  const found = await run(
    lua('bad', 'error("no stock")', [], { on_error: 'continue' }),
    lua('good', 'return 1', [], { on_error: 'continue' }),
    lua('script', 'return {steps.bad.error.code, steps.bad.result == nil, steps.good.error == nil}', ['bad', 'good']),
    lua('whole', 'local all = steps return all.bad.error.code', ['bad']),
    lua('bound', 'return {{steps.bad.error.code}}', ['bad']),
    lua('none', 'return {{steps.good.error.code ?? "none"}}', ['good']),
    {
      id: 'check',
      type: 'condition',
      expression: 'has(steps.bad.error) && !has(steps.good.error)',
      depends_on: ['bad', 'good'],
    },
    {
      id: 'long',
      type: 'condition',
      expression: 'steps.bad.error.code == "lua_error" && input.n.all(i, i >= 0 && input.n.all(j, j >= 0))',
      depends_on: ['bad'],
      disabled: true,
    },
  );
  expect(found.summary).toMatchObject({ status: 'completed', error: null, steps_done: 8 });
  expect(found.summary.steps[0]).toMatchObject({ status: 'failed', error: { code: 'lua_error' } });
  expect(found.result('script')).toEqual(['lua_error', true, true]);
  expect(found.result('whole')).toBe('lua_error');
  expect(found.result('bound')).toBe('lua_error');
  expect(found.result('none')).toBe('none');
  expect(found.result('check')).toMatchObject({ value: true });
  expect(found.context.steps.bad).toBeUndefined();
});

test('an expression that is evaluated in a worker reads the error as well', async () => {
  const many = 'steps.list.result.all(i, steps.list.result.all(j, i + j > 0))';
  const found = await run(
    lua('bad', 'error("x")', [], { on_error: 'continue' }),
    lua('list', 'local t = {} for i = 1, 200 do t[i] = i end return t'),
    {
      id: 'check',
      type: 'condition',
      expression: `steps.bad.error.code == "lua_error" && ${many}`,
      depends_on: ['bad', 'list'],
    },
  );
  expect(found.result('check')).toMatchObject({ value: true });
});
