import { expect, test } from 'vitest';
import { runToolsOf, withRunTool } from './run-tool-choices.ts';
import type { AgentTools } from './tool-choices.ts';

const tools: AgentTools = [
  { type: 'workflow', workflow_ids: ['A', 'b'], approval: 'auto' },
  { type: 'workflow', workflow_ids: ['a'], approval: 'deny' },
  { type: 'agent', agent_id: 'c' },
  { type: 'ask_user' },
];

test('returns the effective choice of several entries', () => {
  for (const given of [tools, tools.toReversed()]) {
    const shown = runToolsOf(given, 'workflow');
    expect(shown).toHaveLength(2);
    expect(shown).toContainEqual({ id: 'a', choice: 'never' });
    expect(shown).toContainEqual({ id: 'b', choice: 'auto' });
    expect(runToolsOf(given, 'agent')).toEqual([{ id: 'c', choice: 'default' }]);
  }
});

test('a choice replaces all entries of its workflow, and keeps other entries', () => {
  const chosen = withRunTool(tools, 'workflow', { id: 'a', choice: 'ask' });
  expect(runToolsOf(chosen, 'workflow')).toEqual([
    { id: 'b', choice: 'auto' },
    { id: 'a', choice: 'ask' },
  ]);
  expect(chosen).toContainEqual({ type: 'ask_user' });
  expect(withRunTool(chosen, 'agent', { id: 'c' })).not.toContainEqual(expect.objectContaining({ type: 'agent' }));
  expect(withRunTool([], 'agent', { id: 'd', choice: 'default' })).toEqual([{ type: 'agent', agent_id: 'd' }]);
  expect(withRunTool([], 'workflow', { id: 'd', choice: 'never' })).toEqual([
    { type: 'workflow', workflow_ids: ['d'], approval: 'deny' },
  ]);
});
