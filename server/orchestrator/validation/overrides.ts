import { setImmediate } from 'node:timers/promises';
import type { Graph, GraphStep, JsonMap } from '../core/index.ts';
import type { CheckScope, StepTypes } from '../ports/step-type.ts';
import { commonFieldNames } from '../steps/common-fields.ts';
import { PatternBudget } from './pattern-budget.ts';
import { type GraphProblem, ProblemList } from './problem-list.ts';
import { type Topology, topology } from './topology.ts';
import { Collector, checkCommonFields, checkStep, STEPS_AT_ONCE } from './validate.ts';

/**
 * Fields that a run cannot change but that an override may contain; `withOverride` (core/compile.ts) leaves them out.
 */
export const FIXED_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'depends_on']);

/** Common fields that no run can override: they decide what happens after a check or an approval failed. */
export const AUTHORED_FIELDS: readonly string[] = ['on_error'];

/** Fields in the override of one step: several times as many as any type of step has. */
const MAX_OVERRIDE_FIELDS = 100;

/** Returns a problem for each override with more fields than any step has, without examining the fields. */
export function oversizedOverrides(overrides: Readonly<Record<string, JsonMap>>): { step: string; message: string }[] {
  return Object.entries(overrides).flatMap(([step, override]) => {
    const count = Object.keys(override).length;
    const message = `has ${count} fields; an override has at most ${MAX_OVERRIDE_FIELDS}`;
    return count > MAX_OVERRIDE_FIELDS ? [{ step, message }] : [];
  });
}

/**
 * Returns the problems of the fields with which `trigger_steps` overrides published steps: each step is checked
 * as if it were published with them, and a problem counts if it is in a field of the override. Fields that
 * decide an approval cannot be overridden at all. Overrides of steps that the graph does not have are ignored.
 * `path` is relative to the step.
 */
export async function validateOverrides(
  graph: Graph,
  overrides: Readonly<Record<string, JsonMap>>,
  types: StepTypes,
  scope: CheckScope,
): Promise<GraphProblem[]> {
  const given = new Map(Object.entries(overrides));
  const found = new ProblemList();
  for (const problem of approvalProblems(graph, overrides, types)) found.push(problem);
  // Computed only if needed: most overrides set a time limit or a switch, for which the order of steps does not matter.
  let order: Topology | undefined;
  const checking = { types, scope, patterns: new PatternBudget() };
  let checked = 0;
  for (const step of graph.steps) {
    const override = given.get(step.id);
    if (override === undefined) continue;
    const barred = [...AUTHORED_FIELDS, ...(types.get(step.type)?.approvalFields ?? [])];
    const names = Object.keys(override).filter(name => !FIXED_FIELDS.has(name) && !barred.includes(name));
    const fields = new Set(names);
    if (fields.size === 0) continue;
    if (++checked % STEPS_AT_ONCE === 0) await setImmediate();
    const merged = overridden(step, override);
    const into = new Collector();
    if ([...fields].every(name => commonFieldNames.has(name) && name !== 'name')) {
      checkCommonFields(merged, types.get(step.type), into);
    } else {
      order ??= topology(graph.steps);
      await checkStep(merged, checking, order, into);
    }
    const within = into.errors.items.filter(({ path }) => isWithin(path, fields));
    for (const problem of within) found.push(problem);
    // Problems that were left out of the list may be in the override.
    if (into.errors.isCut && within.length === 0) for (const problem of into.errors.items) found.push(problem);
  }
  return found.toReport();
}

/** The overridden fields that decide an approval, which no run can override. */
export function approvalProblems(
  graph: Graph,
  overrides: Readonly<Record<string, JsonMap>>,
  types: StepTypes,
): GraphProblem[] {
  const given = new Map(Object.entries(overrides));
  return graph.steps.flatMap(step => {
    const fields = given.get(step.id) ?? {};
    const named = types.get(step.type)?.approvalFields ?? [];
    return [...AUTHORED_FIELDS, ...named]
      .filter(name => Object.hasOwn(fields, name))
      .map(path => {
        const message = AUTHORED_FIELDS.includes(path)
          ? `a run cannot override ${path}`
          : `${path} decides an approval: a run cannot override it`;
        return { step_id: step.id, path, code: 'not_overridable', message };
      });
  });
}

function overridden(step: GraphStep, override: JsonMap): GraphStep {
  return { ...step, ...override, id: step.id, type: step.type, depends_on: step.depends_on } as GraphStep;
}

/**
 * Whether a path such as `form.properties` or `then[0]` is in one of the fields. A field's name may itself contain
 * dots, and there may be tens of thousands of fields, or one whose name has a megabyte. So for each length that a
 * field's name has, the path's prefix of that length is looked up, which is linear in the total length of the names.
 */
export function isWithin(path: string, fields: ReadonlySet<string>): boolean {
  if (fields.has(path)) return true;
  for (const length of lengthsIn(fields)) {
    if ((path[length] === '.' || path[length] === '[') && fields.has(path.slice(0, length))) return true;
  }
  return false;
}

const lengthsOf = new WeakMap<ReadonlySet<string>, ReadonlySet<number>>();

function lengthsIn(fields: ReadonlySet<string>): ReadonlySet<number> {
  const known = lengthsOf.get(fields);
  if (known) return known;
  const lengths = new Set<number>();
  for (const { length } of fields) lengths.add(length);
  lengthsOf.set(fields, lengths);
  return lengths;
}
