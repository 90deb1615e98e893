import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: null,
  retries: false,
  guide: '{seconds} or {until: "2027-01-31T09:00:00Z"}. Waits up to a year, without a slot.',
  references: {},
};
