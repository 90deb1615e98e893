import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: 60,
  retries: true,
  guide: `{expression, mode?: "branch"|"validate", then?, else?, message?}. CEL over input and steps; then/else name dependents, a step may be in both: they say which edges are taken.
  A step runs if one edge into it is taken: a step in a branch must not also depend on a step that runs anyway, whose result it can read without.`,
  references: {},
};
