import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Agent',
  icon: 'sparkles',
  family: 'ai',
  billable: [],
  startScope: ['ai:use', 'mcp:execute'],
} as const satisfies StepTypeDescription;

/** The types of the steps that an agent adds to its run. */
export const added = {
  agent_turn: {
    label: 'Agent turn',
    icon: 'bot',
    family: 'ai',
    billable: ['llm_input_tokens', 'llm_output_tokens'],
    subject: 'model',
  },
  agent_compaction: {
    label: 'Summary of a conversation',
    icon: 'bot',
    family: 'ai',
    billable: ['llm_input_tokens', 'llm_output_tokens'],
    subject: 'model',
  },
  agent_tool: {
    label: 'Tool call of an agent',
    icon: 'blocks',
    family: 'requests',
    billable: ['tool_call'],
    subject: 'tool',
    asksInDoubt: true,
  },
  agent_approval: { label: 'Approval', icon: 'user-check', family: 'people', billable: [], waitsForPeople: true },
} as const satisfies Record<string, StepTypeDescription>;
