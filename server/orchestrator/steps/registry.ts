import type { StepType } from './step-type.ts';

/** The step types of this process, by name. */
export type StepTypes = ReadonlyMap<string, StepType>;
