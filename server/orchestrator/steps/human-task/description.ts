import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Human task',
  icon: 'user-check',
  family: 'people',
  billable: [],
  origin: 'inside',
  waitsForPeople: true,
} as const satisfies StepTypeDescription;
