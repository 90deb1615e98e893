import { describe, expect, test } from 'vitest';
import type { Json } from '@/server/platform/json.ts';
import { readAgentTools } from './agent-tools.ts';

describe('the tools of an agent step', () => {
  test('are shown as lists, whatever their types', () => {
    const tools: Json = [
      { type: 'mcp', instance_id: 'i', tools: ['*'] },
      { type: 'workflow', workflow_ids: ['a'], approval: 'auto' },
      { type: 'agent', agent_id: 'b' },
      { type: 'platform', operations: ['runs_list'] },
      { type: 'ask_user' },
      { type: 'memory' },
    ];
    expect(readAgentTools(tools)).toEqual(tools);
    expect(readAgentTools(undefined)).toEqual([]);
  });

  test.each<Json>([
    null,
    '{{input.tools}}',
    {},
    [1],
    [{ type: 'mcp' }],
    [{ type: 'workflow', workflow_ids: [1] }],
    [{ type: 'workflow', workflow_ids: 'a' }],
    [{ type: 'agent' }],
    [{ type: 'platform' }],
    [{ type: 'other' }],
  ])('are JSON where lists cannot show them: %j', value => {
    expect(readAgentTools(value)).toBeNull();
  });
});
