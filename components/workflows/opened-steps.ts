import type { InputField, InputObject, InputValue } from './run-input.ts';

type Step = { id: string; type: string; name?: string | undefined; gated?: boolean | undefined } & Record<
  string,
  unknown
>;
type Overrides = Record<string, InputObject>;

/** A step that the start of a run may change: it has fields that its author opened (`overridable`), or it is gated. */
export type OpenedStep = {
  id: string;
  title: string;
  /** True if the step runs only when the start names it. */
  isGated: boolean;
  fields: readonly InputField[];
  /** The values of the fields if the start of the run sets none. */
  values: InputObject;
};

/** The fields that a step may name in `overridable`, in the order in which the form shows them. */
const FIELDS: readonly InputField[] = [
  { name: 'name', kind: 'text' },
  { name: 'instructions', kind: 'text', multiline: true },
  { name: 'message', kind: 'text', multiline: true },
  { name: 'tool_args', kind: 'json', multiline: true },
  { name: 'input', kind: 'json', multiline: true },
  { name: 'model', kind: 'text' },
  { name: 'system', kind: 'text', multiline: true },
  { name: 'prompt', kind: 'text', multiline: true },
  { name: 'temperature', kind: 'number' },
  { name: 'max_tokens', kind: 'number' },
  { name: 'query', kind: 'json', multiline: true },
  { name: 'body', kind: 'json', multiline: true },
  { name: 'form', kind: 'json', multiline: true },
  { name: 'text', kind: 'text', multiline: true },
  { name: 'multipart', kind: 'json', multiline: true },
  { name: 'response_schema', kind: 'json', multiline: true },
  { name: 'seconds', kind: 'number' },
  { name: 'until', kind: 'text' },
  { name: 'concurrency', kind: 'number' },
  { name: 'timeout_s', kind: 'number' },
  { name: 'retry_count', kind: 'number' },
  { name: 'retry_delay_s', kind: 'number' },
];

/**
 * Returns the opened steps of a version, in the graph's order. `saved` has the overrides of its run setup, if a start merges them
 * automatically. A disabled step is left out because it does not run.
 */
export function openedSteps(steps: readonly Step[], saved: Overrides): OpenedStep[] {
  return steps.flatMap(step => {
    const opened = Array.isArray(step.overridable) ? (step.overridable as unknown[]) : [];
    const fields = FIELDS.filter(({ name }) => opened.includes(name));
    const isGated = step.gated === true && !Object.hasOwn(saved, step.id);
    if (step.disabled === true || (fields.length === 0 && !isGated)) return [];
    const present = { ...step, ...saved[step.id] } as InputObject;
    const values = fields.flatMap(({ name }): [string, InputValue][] => {
      const value = present[name];
      return value === undefined ? [] : [[name, value]];
    });
    return [{ id: step.id, title: step.name || step.id, isGated, fields, values: Object.fromEntries(values) }];
  });
}

/** The user's choices: the gated steps that are to run, and the fields by step. */
export type Choices = { granted: ReadonlySet<string>; values: Readonly<Record<string, InputObject>> };

/**
 * Returns the `trigger_steps` of a start: the granted steps, and for all other steps the fields that differ from the
 * version. An empty text in a field that the version does not set is ignored.
 */
export function triggerSteps(opened: readonly OpenedStep[], { granted, values }: Choices): Overrides {
  const overrides: Overrides = {};
  for (const { id, isGated, values: present } of opened) {
    if (isGated && !granted.has(id)) continue;
    const changed = Object.entries(values[id] ?? {}).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(present[name] ?? ''),
    );
    if (isGated || changed.length > 0) overrides[id] = Object.fromEntries(changed);
  }
  return overrides;
}
