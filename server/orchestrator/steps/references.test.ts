import { expect, test } from 'vitest';
import { z } from 'zod';
import { LuaPool } from '../languages/lua/index.ts';
import { callingTypes, fieldsNaming, namedBy, patternsNaming, placesNaming } from './references.ts';
import { createStepTypes } from './registry.ts';
import { STEP_FACTS } from './step-facts.ts';

test('references name fields that exist in steps of the type', async () => {
  const luaPool = new LuaPool({ workers: 1 });
  try {
    const types = createStepTypes({ luaPool });
    const fieldsOfType = (type: string) => types.get(type)?.fields.shape ?? {};
    for (const { type, field } of [...fieldsNaming('connection'), ...fieldsNaming('model')])
      expect(Object.keys(fieldsOfType(type))).toContain(field);
    for (const kind of ['instances', 'agents', 'workflows'] as const) {
      for (const { type, field, list, entryType, version } of placesNaming(kind)) {
        expect(Object.keys(fieldsOfType(type))).toEqual(
          expect.arrayContaining([list ?? field, ...(version ? [version] : [])]),
        );
        if (list === undefined) continue;
        const entries = JSON.stringify(z.toJSONSchema(fieldsOfType(type)[list] as z.ZodType, { io: 'input' }));
        expect(entries).toContain(`"${field}":`);
        if (entryType !== undefined) expect(entries).toContain(`"const":"${entryType}"`);
      }
    }
  } finally {
    await luaPool.close();
  }
});

test('names are read in the own fields of a step and in the entries of its lists', () => {
  const tools = [
    { type: 'agent', agent_id: 'B' },
    { type: 'workflow', workflow_ids: ['C', 7, 'D'] },
    { type: 'mcp', agent_id: 'not an agent', instance_id: 'I' },
    'no entry',
  ];
  const agent = { id: 'a', type: 'agent', agent_id: 'A', tools } as Parameters<typeof namedBy>[0];
  expect(namedBy(agent, 'agents')).toEqual([{ id: 'A' }, { id: 'B' }]);
  expect(namedBy(agent, 'workflows')).toEqual([{ id: 'C' }, { id: 'D' }]);
  expect(namedBy(agent, 'instances')).toEqual([{ id: 'I' }]);
  expect(namedBy({ id: 'c', type: 'call_workflow', workflow_id: 'W', version: 3 }, 'workflows')).toEqual([
    { id: 'W', version: 3 },
  ]);
  expect(namedBy({ id: 'c', type: 'call_workflow', workflow_id: 'W' }, 'workflows')).toEqual([{ id: 'W' }]);
  expect(namedBy({ id: 'w', type: 'wait', workflow_id: 'W' }, 'workflows')).toEqual([]);
  expect(namedBy({ id: 'g', type: 'gone', workflow_id: 'W' }, 'workflows')).toEqual([]);
});

test('a search of graphs has one pattern for each place', () => {
  expect(patternsNaming('instances', 'I')).toEqual([
    { type: 'mcp_call', instance_id: 'I' },
    { type: 'agent', tools: [{ instance_id: 'I' }] },
  ]);
  expect(patternsNaming('agents', 'A')).toContainEqual({ type: 'agent', tools: [{ type: 'agent', agent_id: 'A' }] });
  expect(callingTypes()).toEqual(['call_workflow', 'agent']);
});

test('the documented defaults are those of the types', async () => {
  const luaPool = new LuaPool({ workers: 1 });
  try {
    for (const [type, { defaultTimeoutS, retries }] of Object.entries(STEP_FACTS))
      expect(createStepTypes({ luaPool }).get(type)).toMatchObject({ defaultTimeoutS, retries });
  } finally {
    await luaPool.close();
  }
});
