import type { StepTypeDescription } from '../../ports/step-type.ts';

export const description = {
  label: 'Extraction of memories',
  icon: 'bot',
  family: 'ai',
  billable: ['llm_input_tokens', 'llm_output_tokens'],
  subject: 'model',
} as const satisfies StepTypeDescription;
