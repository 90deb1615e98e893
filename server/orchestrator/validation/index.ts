export { guardedFields, passedOver } from './override-rights.ts';
export { approvalProblems, isWithin, oversizedOverrides, validateOverrides } from './overrides.ts';
export { type GraphProblem, MAX_PROBLEMS, ProblemList } from './problem-list.ts';
export { checkShape, MAX_STEPS } from './shape.ts';
export { type GraphReport, validateGraph } from './validate.ts';
