import { setImmediate } from 'node:timers/promises';
import type { Graph, GraphStep, JsonMap } from '../core/index.ts';
import { commonFieldNames } from '../steps/common-fields.ts';
import type { StepTypes } from '../steps/registry.ts';
import type { CheckScope } from '../steps/step-type.ts';
import type { GraphProblem } from './shape.ts';
import { type Topology, topology } from './topology.ts';
import { Collector, checkCommonFields, checkStep, STEPS_AT_ONCE } from './validate.ts';

/** Fields that a run cannot change; `withOverride` (core/compile.ts) leaves them out as well. */
const FIXED = new Set(['id', 'type', 'depends_on']);

/**
 * What is wrong with the fields that `trigger_steps` puts over those of published steps: each step is checked as it would be
 * when published, and a problem counts where it lies in a field that the override brings. Overrides of steps that the graph
 * does not have are left out. `path` is relative to the step.
 */
export async function validateOverrides(
  graph: Graph,
  overrides: Readonly<Record<string, JsonMap>>,
  types: StepTypes,
  scope: CheckScope,
): Promise<GraphProblem[]> {
  const given = new Map(Object.entries(overrides));
  const found: GraphProblem[] = [];
  // Most overrides set a time limit or a switch, for which nobody needs to know who comes before whom.
  let order: Topology | undefined;
  let checked = 0;
  for (const step of graph.steps) {
    const override = given.get(step.id);
    if (override === undefined) continue;
    const fields = new Set(Object.keys(override).filter(name => !FIXED.has(name)));
    if (fields.size === 0) continue;
    if (++checked % STEPS_AT_ONCE === 0) await setImmediate();
    const merged = overridden(step, override);
    const into = new Collector();
    if ([...fields].every(name => commonFieldNames.has(name) && name !== 'name')) {
      checkCommonFields(merged, types.get(step.type), into);
    } else {
      order ??= topology(graph.steps);
      await checkStep(merged, { types, scope }, order, into);
    }
    found.push(...into.errors.filter(({ path }) => isWithin(path, fields)));
  }
  return found;
}

function overridden(step: GraphStep, override: JsonMap): GraphStep {
  return { ...step, ...override, id: step.id, type: step.type, depends_on: step.depends_on } as GraphStep;
}

/**
 * Whether a path such as `form.properties` or `then[0]` lies in one of the fields. A field's name may hold dots itself, and
 * there may be tens of thousands: each prefix of the path is looked up, instead of the path being compared with each field.
 */
export function isWithin(path: string, fields: ReadonlySet<string>): boolean {
  if (fields.has(path)) return true;
  for (let at = 0; at < path.length; at++)
    if ((path[at] === '.' || path[at] === '[') && fields.has(path.slice(0, at))) return true;
  return false;
}
