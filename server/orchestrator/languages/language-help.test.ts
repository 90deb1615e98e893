import { expect, test } from 'vitest';
import { executeCommand } from '../../domains/runs/start/command.ts';
import { getContext } from '../../domains/runs/values/context.ts';
import { contextFor, createTestTenant } from '../../testing/identity.ts';
import { publishGraph, reached, startTestService } from '../../testing/runs.ts';
import type { Graph } from '../core/index.ts';
import { STEP_TYPES } from '../steps/descriptions.ts';
import { EXAMPLE_DATA, LANGUAGE_HELP, languagesOf } from './language-help.ts';

/** Returns a workflow with a step for each example, and one step for all examples of templates. */
function graphOfExamples(): Graph {
  const order = { id: 'order', type: 'lua_script', script: 'return input.order' };
  const depends_on = ['order'];
  const { lua, cel, template } = LANGUAGE_HELP;
  const scripts = lua.examples.map(({ code }, at) => ({
    ...{ id: `lua_${at}`, type: 'lua_script', depends_on, script: code },
  }));
  const conditions = cel.examples.map(({ code }, at) => ({
    ...{ id: `cel_${at}`, type: 'condition', depends_on, expression: code },
  }));
  const output = template.examples.map(({ code }) => code);
  return { steps: [order, ...scripts, ...conditions], output } as Graph;
}

test('every example of the languages gives the result that the editor shows', async () => {
  const service = await startTestService();
  try {
    const { owner } = await createTestTenant(service.services, { slug: 'main' });
    const ctx = contextFor(service.services, owner);
    const id = await publishGraph(service.services, owner, graphOfExamples());
    const params = { trigger_payload: { ...EXAMPLE_DATA.input, order: EXAMPLE_DATA.order } };
    const { run_id } = await executeCommand(ctx, { id, command: 'start', params });
    await reached(service.services, owner, { id, runID: run_id });
    const { steps, output } = await getContext(ctx, { id, runID: run_id });
    const { lua, cel, template } = LANGUAGE_HELP;
    expect(lua.examples.map((_, at) => steps[`lua_${at}`]?.result)).toEqual(lua.examples.map(({ result }) => result));
    expect(cel.examples.map((_, at) => steps[`cel_${at}`]?.result)).toMatchObject(
      cel.examples.map(({ result }) => ({ value: result })),
    );
    expect(output).toEqual(template.examples.map(({ result }) => result));
  } finally {
    await service.close();
  }
});

test('every step type has a language', () => {
  for (const type of Object.keys(STEP_TYPES)) expect(languagesOf(type).length).toBeGreaterThan(0);
  expect(languagesOf('constructor')).toEqual(['template']);
});
