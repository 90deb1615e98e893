import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: 300,
  retries: true,
  guide: '{model: "provider/model", prompt, system?, temperature?, max_tokens?, response_schema?}.',
  references: { model: 'model' },
};
