import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Call workflow',
  icon: 'workflow',
  family: 'workflows',
  billable: [],
} as const satisfies StepTypeDescription;
