import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'HTTP request',
  icon: 'globe',
  family: 'requests',
  billable: [],
  startScope: 'mcp:execute',
  asksInDoubt: true,
} as const satisfies StepTypeDescription;
