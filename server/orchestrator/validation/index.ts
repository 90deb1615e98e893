export { isWithin, validateOverrides } from './overrides.ts';
export { checkShape, type GraphProblem, LARGEST_GRAPH, MOST_STEPS } from './shape.ts';
export { type GraphReport, validateGraph } from './validate.ts';
