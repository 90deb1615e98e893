import type { StepHelp } from '../ports/step-declarations.ts';
import type { StepTypeName } from './descriptions.ts';
import { STEP_HELP } from './step-help.ts';

/** The types with which workflows often begin. */
export const FIRST_STEPS: readonly StepTypeName[] = ['http_request', 'lua_script', 'llm_call'];

/**
 * Returns the search words of a type and the types that often follow it; empty for a type that this version does not
 * know.
 */
export const stepFinding = (type: string): Pick<StepHelp, 'words' | 'next'> =>
  (STEP_HELP as Readonly<Partial<Record<string, StepHelp>>>)[type] ?? { words: [], next: [] };
