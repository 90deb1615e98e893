import { isDeepStrictEqual } from 'node:util';
import { allSteps, type Graph, type GraphStep, type JsonMap, type JsonValue } from '../core/index.ts';
import type { StepType, StepTypes } from '../ports/step-type.ts';
import { openableFields } from '../steps/common-fields.ts';
import { fillsTemplates } from './filled-templates.ts';
import { AUTHORED_FIELDS, FIXED_FIELDS } from './overrides.ts';

type Overrides = Readonly<Record<string, JsonMap>>;

/**
 * Returns the overridden fields that require the right to edit the workflow (docs/adr/0013): all except those that the
 * step's author opened, those equal to `saved` (the version's run setup), and values in the place of templates. Fields
 * that no run can override are left to `validateOverrides`, which refuses them.
 */
export function guardedFields(
  graph: Graph,
  { overrides, saved }: { overrides: Overrides; saved: Overrides },
  types: StepTypes,
): { step: string; field: string }[] {
  const given = new Map(Object.entries(overrides));
  const known = new Map(Object.entries(saved));
  return graph.steps.flatMap(step => {
    const override = Object.entries(given.get(step.id) ?? {});
    if (override.length === 0) return [];
    const type = types.get(step.type);
    const free = new Set([
      ...FIXED_FIELDS,
      ...AUTHORED_FIELDS,
      ...(type?.approvalFields ?? []),
      ...openedFields(step, type),
    ]);
    const authored = new Map(Object.entries(known.get(step.id) ?? {}));
    return override
      .filter(([field, value]) => !free.has(field) && !isDeepStrictEqual(authored.get(field), value))
      .filter(([field, value]) => !isFilled(step, type, [field, value]))
      .map(([field]) => ({ step: step.id, field }));
  });
}

function openedFields({ overridable }: GraphStep, type: StepType | undefined): string[] {
  if (type === undefined || overridable === undefined) return [];
  return openableFields(type).filter(name => overridable.includes(name));
}

/**
 * The caller of a start chooses its input, and so also the values of such templates. Only for steps without
 * predecessors: a predecessor might have checked or approved the input before the override.
 */
function isFilled(step: GraphStep, type: StepType | undefined, [field, value]: [string, JsonValue]): boolean {
  if (type?.filledFields?.includes(field) !== true || (step.depends_on ?? []).length > 0) return false;
  return step[field] !== undefined && fillsTemplates(step[field], value);
}

/**
 * Returns the params of a start that bypass steps which others rely on: results that no step produced, and an episode
 * that leaves out a check or an approval before one of its steps.
 */
export function passedOver(
  graph: Graph,
  { mode, trigger_steps, seed_results }: { mode: string; trigger_steps: Overrides; seed_results: JsonMap },
  types: StepTypes,
): { path: string; message: string }[] {
  const problems = Object.keys(seed_results).map(step => ({
    path: `seed_results.${step}`,
    message: 'is a result that the step did not give',
  }));
  const decides = (step: GraphStep) => allSteps({ steps: [step] }).some(({ type }) => types.get(type)?.decides);
  const deciding = new Set(graph.steps.filter(decides).map(({ id }) => id));
  if (mode !== 'episode' || deciding.size === 0) return problems;
  const inside = reachable(dependentsOf(graph), Object.keys(trigger_steps));
  const before = reachable(new Map(graph.steps.map(step => [step.id, step.depends_on ?? []])), [...inside]);
  for (const step of before)
    if (!inside.has(step) && deciding.has(step)) problems.push({ path: 'mode', message: `leaves out "${step}"` });
  return problems;
}

function dependentsOf(graph: Graph): Map<string, string[]> {
  const dependents = new Map<string, string[]>(graph.steps.map(({ id }) => [id, []]));
  for (const { id, depends_on = [] } of graph.steps) for (const before of depends_on) dependents.get(before)?.push(id);
  return dependents;
}

function reachable(next: ReadonlyMap<string, readonly string[]>, from: readonly string[]): Set<string> {
  // A Set is iterated in insertion order, including elements added meanwhile, so it is its own queue.
  const found = new Set(from);
  for (const id of found) for (const other of next.get(id) ?? []) found.add(other);
  return found;
}
