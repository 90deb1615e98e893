import type { JsonMap, JsonValue } from './events.ts';

/**
 * A step as published: the common fields, and the fields of its type. Of the latter, the core reads only those of `condition`
 * and `for_each`.
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
 * `input_schema`: a JSON Schema of the input. `output`: a template of the run's output. `on_failure`: names the
 * workflow that handles failed runs. `searchable`: a template for each value that runs are found by. `tool`: offers the
 * workflow as a tool. The core reads only the steps.
 */
export type Graph = {
  steps: GraphStep[];
  input_schema?: JsonMap;
  output?: JsonValue;
  on_failure?: { workflow_id: string };
  searchable?: JsonMap;
  tool?: { name?: string; description?: string; read_only?: boolean };
};

/** The type whose steps have their own graph, in `steps`. */
const LOOP = 'for_each';

/** Returns the steps of a loop's own graph; null for a step of another type, or if `steps` is not a list of steps. */
export function innerSteps({ type, steps }: GraphStep): GraphStep[] | null {
  return type === LOOP && isStepList(steps) ? steps : null;
}

function isStepList(steps: JsonValue | GraphStep[] | undefined): steps is GraphStep[] {
  const isText = (value: unknown) => typeof value === 'string';
  const isStep = (step: unknown) =>
    typeof step === 'object' && step !== null && 'id' in step && 'type' in step && isText(step.id) && isText(step.type);
  return Array.isArray(steps) && steps.every(isStep);
}

/** Returns all steps of a graph, including those of its loops. Each loop comes before its own steps. */
export function allSteps({ steps }: Graph): GraphStep[] {
  return steps.flatMap(step => [step, ...allSteps({ steps: innerSteps(step) ?? [] })]);
}

const templates = new WeakMap<GraphStep, GraphStep>();

/** Returns a step with some other fields. `templateOf` knows its original. */
export function instanceOf(template: GraphStep, fields: Partial<GraphStep> & { id: string }): GraphStep {
  const step: GraphStep = { ...template, ...fields };
  templates.set(step, template);
  return step;
}

/**
 * Returns the published step of an added instance, otherwise the step itself. It is the key for everything derived from
 * fields that all instances share, such as a parsed script.
 */
export function templateOf(step: GraphStep): GraphStep {
  return templates.get(step) ?? step;
}
