import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: 300,
  retries: true,
  guide:
    '{url, method?, query?, headers?, body?|form?|text?|multipart?, connection_id?, auth?, expect?, response?: "auto"|"json"|"text"|"bytes", pagination?}. Result: {status, headers, body}.',
  references: { connection: 'connection_id' },
};
