import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Condition',
  icon: 'git-fork',
  family: 'logic',
  billable: [],
  origin: 'anything',
} as const satisfies StepTypeDescription;
