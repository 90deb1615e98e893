import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Graph } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import { validateGraph } from '../validation/index.ts';
import { createStepTypes } from './registry.ts';

const page = readFileSync(new URL('../../../docs/steps.md', import.meta.url), 'utf8');

test('the graphs in docs/steps.md are valid', async () => {
  const graphs = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text = '']) => JSON.parse(text) as Graph);
  expect(graphs.length).toBeGreaterThan(1);
  const luaPool = new LuaPool({ workers: 1 });
  try {
    const requester = { check: async () => [], send: () => Promise.reject(new Error('Nothing is sent here.')) };
    const never = () => Promise.reject(new Error('Nothing is called here.'));
    const workflows = { check: async () => [], resolve: never, output: never };
    const types = createStepTypes({ luaPool, requester, workflows });
    for (const graph of graphs) {
      const report = await validateGraph(graph, types, { tenantId: 't', projectId: 'p' });
      expect(report).toEqual({ valid: true, errors: [], warnings: [] });
    }
  } finally {
    await luaPool.close();
  }
});
