import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { type Ask, isOn, type SurfaceName, surfaceNames, surfacesOf } from '../../testing/surfaces.ts';
import { startTestNode, type TestNode } from '../../testing/two-nodes.ts';
import { absentVersions, callsTo, registry, startTestWorlds, type TestWorlds } from '../../testing/world.ts';
import { operations } from '../operations.ts';
import type { RegisteredOperation } from '../registry.ts';

/**
 * Tests that each operation, on each surface, has the answer of the node that leads where another node receives it. The other node
 * has no engine: an operation that it handled itself would fail, or not be counted as forwarded.
 */
let worlds: TestWorlds;
let token: string;
let near: TestNode;
let atLeader: Record<SurfaceName, Ask>;
let atOther: Record<SurfaceName, Ask>;

const cases = surfaceNames.flatMap(surface =>
  registry.operations
    .filter(entry => entry.operation.access !== 'public' && isOn(surface, entry))
    .map(entry => [surface, entry.operation.name, entry] as [SurfaceName, string, RegisteredOperation]),
);

beforeAll(async () => {
  worlds = await startTestWorlds({
    BATON_MCP_GROUPS: 'core,catalog,memory,chat,files,websocket,vault,pat,inbound,llm_keys',
    BATON_MCP_RISK: 'true',
  });
  token = worlds.rivalToken;
  const { services } = worlds.service.container;
  const orchestrator = { ...services.orchestrator, leads: () => false };
  near = await startTestNode('near', { ...services, orchestrator }, operations);
  near.owner = { kind: 'node', id: 'leader', url: worlds.service.url };
  atLeader = surfacesOf(worlds);
  atOther = surfacesOf({ ...worlds, ...callsTo(near.url) });
});
afterAll(async () => {
  await near.close();
  await worlds.close();
});

/** Ids of nothing, and versions that do not exist. */
const absent = () => ({
  ...Object.fromEntries(Object.keys(worlds.rival.ids).map(name => [name, newId()])),
  ...absentVersions,
});

describe('every operation answers as at the leader', () => {
  test.each(cases)('%s %s', async (surface, _, entry) => {
    const { ids } = worlds.rival;
    const nonsense = { nonsense: '1' };
    const before = near.outcomes.length;
    const verdict = await atOther[surface](entry, ids, { token }, nonsense);
    expect(verdict).toBe(await atLeader[surface](entry, ids, { token }, nonsense));
    expect(verdict).toBe('validation_error');
    const isForwarded = entry.operation.method !== 'GET' || surface === 'mcp' || surface === 'catalog';
    expect(near.outcomes.slice(before)).toEqual(isForwarded ? ['answered'] : []);
    if (entry.pathParameters.length === 0) return;
    const asked = await atOther[surface](entry, absent(), { token });
    expect(asked).toBe(await atLeader[surface](entry, absent(), { token }));
  });
});
