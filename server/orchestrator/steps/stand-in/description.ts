import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Stand-in',
  icon: 'repeat',
  family: 'workflows',
  billable: [],
} as const satisfies StepTypeDescription;
