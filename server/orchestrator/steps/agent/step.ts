import { z } from 'zod';
import type { StepType } from '../../ports/step-type.ts';

/** The properties that all types of steps under an agent share: only agents add them, and they work with the agent's settings. */
export const AGENT_STEP = {
  fields: z.looseObject({}),
  available: true,
  internal: true,
  dataFields: [],
  rawFields: [],
  check: () => [],
} satisfies Partial<StepType>;
