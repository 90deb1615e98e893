import { z } from 'zod';
import type { StepType } from '../../ports/step-type.ts';

/** The properties that all types of steps under an agent share. Only agents add these steps. */
export const AGENT_STEP = {
  fields: z.looseObject({}),
  available: true,
  internal: true,
  dataFields: [],
  rawFields: [],
  check: () => [],
} satisfies Partial<StepType>;
