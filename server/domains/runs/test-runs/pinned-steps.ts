import type { Graph, GraphStep, JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { stepTypeDescription } from '../../../orchestrator/steps/descriptions.ts';

/** The fields that a pinned step keeps: where it stands, and whether it takes part. */
const KEPT_FIELDS = ['id', 'name', 'depends_on', 'position', 'disabled', 'gated'] as const;

/**
 * Returns a graph in which the pinned steps return their results without doing anything else. A condition that branches takes the
 * branch of its result; any other step is a script, since a result can be any JSON.
 */
export function withPinnedSteps(graph: Graph, pins: Readonly<JsonMap>): Graph {
  const steps = graph.steps.map(step => (Object.hasOwn(pins, step.id) ? pinned(step, pins[step.id] ?? null) : step));
  return { ...graph, steps };
}

/** Returns overrides for a graph with pinned steps: those of a pinned step, which has other fields, only start it. */
export function withoutPinnedOverrides(overrides: unknown, pins: Readonly<JsonMap>): JsonMap {
  const entries = Object.entries((overrides ?? {}) as JsonMap);
  return Object.fromEntries(entries.map(([id, fields]) => [id, Object.hasOwn(pins, id) ? {} : fields]));
}

/**
 * Returns where the results that a test was given are from, if one of them may hold text from outside or private data: the results of
 * these steps are not of the run, so that nothing else says it. Null where none may.
 */
export function originOfGiven(steps: readonly GraphStep[], results: Readonly<JsonMap>): string | null {
  const given = steps.filter(({ id }) => Object.hasOwn(results, id) && results[id] !== null);
  const isInside = ({ type }: GraphStep) => stepTypeDescription(type)?.origin === 'inside';
  return given.every(isInside) ? null : 'from a result that the test was given';
}

function pinned(step: GraphStep, result: JsonValue): GraphStep {
  const kept = Object.fromEntries(
    KEPT_FIELDS.flatMap(field => (step[field] === undefined ? [] : [[field, step[field]]])),
  );
  const branch = step.type === 'condition' && step.mode !== 'validate' ? branchOf(result) : null;
  if (branch !== null) {
    const { then, else: other } = step;
    return {
      ...kept,
      type: 'condition',
      expression: String(branch === 'then'),
      ...(then && { then }),
      ...(other && { else: other }),
    } as unknown as GraphStep;
  }
  return { ...kept, type: 'lua_script', script: scriptReturning(result) } as unknown as GraphStep;
}

function branchOf(result: JsonValue): 'then' | 'else' | null {
  const branch =
    typeof result === 'object' && result !== null && !Array.isArray(result) && Object.hasOwn(result, 'branch')
      ? result.branch
      : null;
  return branch === 'then' || branch === 'else' ? branch : null;
}

/**
 * Returns a script that returns a JSON value. Within the JSON nothing ends the long bracket of Lua and nothing is a template: both
 * can only be in strings, where a character can be written as an escape.
 */
function scriptReturning(result: JsonValue): string {
  const json = JSON.stringify(result).replaceAll(']=', String.raw`]\u003d`).replaceAll('{{', String.raw`{\u007b`);
  return `-- The pinned result of this step\nreturn json.decode([=[${json}]=])`;
}
