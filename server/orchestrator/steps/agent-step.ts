import { z } from 'zod';
import type { StepType } from '../../contract/step-type.ts';

/** What all types of steps under an agent have in common: only agents add them, and what they work from is the agent's. */
export const AGENT_STEP = {
  fields: z.looseObject({}),
  available: true,
  internal: true,
  dataFields: [],
  rawFields: [],
  check: () => [],
} satisfies Partial<StepType>;
