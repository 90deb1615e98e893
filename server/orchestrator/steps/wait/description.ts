import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Wait',
  icon: 'clock',
  family: 'logic',
  billable: [],
  origin: 'inside',
} as const satisfies StepTypeDescription;
