import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: null,
  retries: false,
  guide:
    '{instructions, form?, assignees?, timeout_s?, on_timeout?: "fail"|"approve"|"reject"}. Waits for a person; result.approved.',
  references: {},
};
