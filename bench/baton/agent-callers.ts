import type { AgentTools } from '../../server/orchestrator/steps/agent/tools.ts';
import type { TurnCaller } from '../../server/orchestrator/steps/agent/turn-caller.ts';
import type { ToolCaller } from '../../server/orchestrator/steps/mcp-call/tool-caller.ts';

/** The number of turns in which each agent calls its tool before it answers. */
export const AGENT_CALLS = 10;

const usage = { inputTokens: 0, outputTokens: 0 };

/** A model that answers immediately and calls the tool in each of its first turns, so that only the orchestrator's cost remains. */
const turns: TurnCaller = {
  check: async () => [],
  contextWindow: async () => 1_000_000,
  async turn({ messages, model }) {
    const number = messages.filter(({ role }) => role === 'assistant').length + 1;
    if (number > AGENT_CALLS)
      return {
        kind: 'answer',
        content: [{ type: 'text', text: 'It is done.' }],
        finishReason: 'stop',
        model,
        usage,
        warnings: [],
      };
    const call = { type: 'tool_call' as const, id: `call_${number}`, name: 'look_up', arguments: { number } };
    return { kind: 'answer', content: [call], finishReason: 'tool_calls', model, usage, warnings: [] };
  },
};

const agentTools: AgentTools = {
  check: async () => [],
  offer: async () => ({
    kind: 'offer',
    instance: 'Tools',
    tools: [
      {
        name: 'look_up',
        description: 'Looks a number up.',
        inputSchema: { type: 'object', properties: { number: { type: 'integer' } } },
        readOnly: true,
        destructive: false,
        openWorld: false,
      },
    ],
  }),
  problems: () => [],
};

const tools: ToolCaller = {
  check: async () => [],
  call: async ({ args }) => ({ kind: 'result', result: { content: [{ type: 'text', text: JSON.stringify(args) }] } }),
};

export const agentCallers = { turns, agentTools, tools };
