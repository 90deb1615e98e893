import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'For each',
  icon: 'repeat',
  family: 'logic',
  billable: [],
  origin: 'anything',
} as const satisfies StepTypeDescription;
