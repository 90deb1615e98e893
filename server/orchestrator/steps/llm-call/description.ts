import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'LLM call',
  icon: 'bot',
  family: 'ai',
  billable: ['llm_input_tokens', 'llm_output_tokens'],
  subject: 'model',
  origin: 'templates',
  startScope: 'ai:use',
} as const satisfies StepTypeDescription;
