import type { JsonMap, JsonValue } from './events.ts';

/**
 * A step as published. The fields of its type stand beside the common ones. The core reads only those of `condition` and
 * `for_each`.
 */
export type GraphStep = {
  id: string;
  type: string;
  name?: string;
  timeout_s?: number;
  retry_count?: number;
  retry_delay_s?: number;
  depends_on?: string[];
  disabled?: boolean;
  gated?: boolean;
  on_error?: 'fail' | 'continue';
  overridable?: string[];
  [field: string]: JsonValue | undefined;
};
/**
 * `input_schema` is a JSON Schema of the input, `output` gives the output of a run, with templates,
 * `on_failure` names the workflow that handles failed runs, `searchable` has a template for each value that runs
 * are found by, and `tool` offers the workflow as a tool. The core reads the steps alone.
 */
export type Graph = {
  steps: GraphStep[];
  input_schema?: JsonMap;
  output?: JsonValue;
  on_failure?: { workflow_id: string };
  searchable?: JsonMap;
  tool?: { name?: string; description?: string; read_only?: boolean };
};

/** The type whose steps have a graph of their own, in `steps`. */
const LOOP = 'for_each';

/** The steps of a loop's own graph; null for a step of any other type, and where `steps` is no list of steps. */
export function innerSteps({ type, steps }: GraphStep): GraphStep[] | null {
  return type === LOOP && isStepList(steps) ? steps : null;
}

function isStepList(steps: JsonValue | GraphStep[] | undefined): steps is GraphStep[] {
  const isText = (value: unknown) => typeof value === 'string';
  const isStep = (step: unknown) =>
    typeof step === 'object' && step !== null && 'id' in step && 'type' in step && isText(step.id) && isText(step.type);
  return Array.isArray(steps) && steps.every(isStep);
}

/** All steps of a graph, those of its loops included, each loop before its own. */
export function allSteps({ steps }: Graph): GraphStep[] {
  return steps.flatMap(step => [step, ...allSteps({ steps: innerSteps(step) ?? [] })]);
}

const templates = new WeakMap<GraphStep, GraphStep>();

/** A step with some other fields, of which `templateOf` knows the original. */
export function instanceOf(template: GraphStep, fields: Partial<GraphStep> & { id: string }): GraphStep {
  const step: GraphStep = { ...template, ...fields };
  templates.set(step, template);
  return step;
}

/**
 * The published step of which an added one is an instance, otherwise the step itself. What is derived from fields that
 * all instances share, such as a parsed script, is kept under it.
 */
export function templateOf(step: GraphStep): GraphStep {
  return templates.get(step) ?? step;
}
