import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'MCP tool call',
  icon: 'blocks',
  family: 'requests',
  billable: ['tool_call'],
  subject: 'tool_name',
  startScope: 'mcp:execute',
  asksInDoubt: true,
} as const satisfies StepTypeDescription;
