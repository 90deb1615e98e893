import { afterAll, describe, expect, test } from 'vitest';
import type { Graph } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { createStepTypes } from '../steps/registry.ts';
import { checkShape, validateGraph } from './index.ts';

const luaPool = new LuaPool({ workers: 1 });
const types = createStepTypes({ luaPool });
afterAll(() => luaPool.close());
const scope = { tenantId: 'acme', projectId: '01900000-0000-7000-8000-000000000001' };
const steps = [{ id: 'a', type: 'condition', expression: 'true' }];
const graph = (tool: unknown, more: Partial<Graph> = {}): Graph => ({ steps, tool: tool as object, ...more });
async function problems(tool: unknown, more: Partial<Graph> = {}) {
  const { errors, warnings } = await validateGraph(graph(tool, more), types, scope);
  const short = ({ path, code }: { path: string; code: string }) => `${path}:${code}`;
  // The problems of the steps themselves do not matter here.
  return [...errors.filter(({ step_id }) => step_id === null), ...warnings].map(short);
}

describe('the tool of a graph', () => {
  test('may be empty, and has a name that models take', async () => {
    for (const tool of [{}, { name: 'refund' }, { name: `_${'a'.repeat(63)}`, description: 'x', read_only: false }])
      expect(await problems(tool)).toEqual([]);
  });

  test.each([
    [{ name: '' }, 'tool.name:invalid_field'],
    [{ name: 'a b' }, 'tool.name:invalid_field'],
    [{ name: '1a' }, 'tool.name:invalid_field'],
    [{ name: 'a'.repeat(65) }, 'tool.name:invalid_field'],
    [{ name: 'refund\n' }, 'tool.name:invalid_field'],
    [{ name: 5 }, 'tool.name:invalid_field'],
    [{ description: 'x'.repeat(2_001) }, 'tool.description:invalid_field'],
    [{ description: {} }, 'tool.description:invalid_field'],
    [{ read_only: 'true' }, 'tool.read_only:invalid_field'],
    [{ group: 'core' }, 'tool.group:unknown_field'],
  ])('%j is %s', async (tool, problem) => {
    expect(await problems(tool)).toEqual([problem]);
  });

  test('is an object, even in a draft', () => {
    for (const tool of ['x', 1, [], null, true])
      expect(checkShape(graph(tool)).map(({ code }) => code)).toEqual(['field_not_object']);
  });

  test('if it only reads, has no step that plainly sends', async () => {
    const sending = (method: string, more = {}): Partial<Graph> => ({
      steps: [{ id: 'a', type: 'http_request', method, url: 'https://api.example.com', ...more }],
    });
    expect(await problems({ read_only: true }, sending('POST'))).toContain('tool.read_only:tool_may_write');
    expect(await problems({ read_only: false }, sending('POST'))).not.toContain('tool.read_only:tool_may_write');
    expect(await problems({ read_only: true }, sending('GET'))).not.toContain('tool.read_only:tool_may_write');
  });
});
