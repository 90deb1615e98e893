import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Lua script',
  icon: 'file-code',
  family: 'code',
  billable: [],
  origin: 'anything',
} as const satisfies StepTypeDescription;
