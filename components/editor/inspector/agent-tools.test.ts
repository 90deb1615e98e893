import { describe, expect, test } from 'vitest';
import type { Json } from '@/server/platform/json.ts';
import { readAgentTools } from './agent-tools.ts';

describe('the tools of an agent step', () => {
  test('of every type are shown as lists', () => {
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
  ])('are shown as JSON if lists cannot show them: %j', value => {
    expect(readAgentTools(value)).toBeNull();
  });
});
