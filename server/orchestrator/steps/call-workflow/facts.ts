import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: null,
  retries: true,
  guide:
    '{workflow_id, version?, input?, detach?}. Runs another workflow of the project, waits, and returns its output.',
  references: { workflows: [{ field: 'workflow_id', version: 'version' }] },
};
