import type { StepFacts } from '../../ports/step-declarations.ts';

/** Only the service's own workflows have this type, so no prompt names it. */
export const facts: Omit<StepFacts, 'guide'> = {
  defaultTimeoutS: 300,
  retries: true,
  references: {},
  actsForPerson: true,
};
