import { z } from 'zod';
import { LONGEST_TEXT, unavailableMessage } from './common-fields.ts';
import { failed } from './failure.ts';
import type { StepType } from './step-type.ts';

const message = unavailableMessage('llm_call', 'this server has no model providers configured');

/** `llm_call`: asks a language model. Drafts may hold it. */
export const llmCall: StepType = {
  type: 'llm_call',
  label: 'Language model',
  fields: z.strictObject({
    model: z.string().min(1).max(200).meta({ description: 'provider/model' }),
    prompt: z.string().min(1).max(LONGEST_TEXT),
    system: z.string().max(LONGEST_TEXT).optional(),
    temperature: z.number().min(0).max(2).optional(),
    max_tokens: z.number().int().min(1).max(1_000_000).optional(),
    response_schema: z.record(z.string(), z.json()).optional(),
  }),
  available: { message },
  defaultTimeoutS: 300,
  retries: true,
  rawFields: [],
  check: () => [],
  execute: async () => failed('step_type_unavailable', message),
};
