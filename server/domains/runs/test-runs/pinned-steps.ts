import type { Graph, GraphStep, JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { stepTypeDescription } from '../../../orchestrator/steps/descriptions.ts';

/** The fields that a pinned step keeps: its place in the graph, and whether it is executed. */
const KEPT_FIELDS = ['id', 'name', 'depends_on', 'position', 'disabled', 'gated'] as const;

/**
 * Returns a graph in which the pinned steps return their results and do nothing else. A condition that branches takes
 * the branch of its result; any other step becomes a script, since a result can be any JSON.
 */
export function withPinnedSteps(graph: Graph, pins: Readonly<JsonMap>): Graph {
  const steps = graph.steps.map(step => (Object.hasOwn(pins, step.id) ? pinStep(step, pins[step.id] ?? null) : step));
  return { ...graph, steps };
}

/**
 * Returns overrides for a graph with pinned steps. A pinned step has other fields, so only the overrides that start it
 * are kept.
 */
export function withoutPinnedOverrides(overrides: unknown, pins: Readonly<JsonMap>): JsonMap {
  const entries = Object.entries((overrides ?? {}) as JsonMap);
  return Object.fromEntries(entries.map(([id, fields]) => [id, Object.hasOwn(pins, id) ? {} : fields]));
}

/**
 * Returns where the results that a test was given are from, if one of them may hold text from outside or private data;
 * null otherwise. The run did not produce these results, so no event records their origin.
 */
export function originOfGiven(steps: readonly GraphStep[], results: Readonly<JsonMap>): string | null {
  const given = steps.filter(({ id }) => Object.hasOwn(results, id) && results[id] !== null);
  const isInside = ({ type }: GraphStep) => stepTypeDescription(type)?.origin === 'inside';
  return given.every(isInside) ? null : 'from a result that the test was given';
}

function pinStep(step: GraphStep, result: JsonValue): GraphStep {
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
 * Returns a script that returns a JSON value. The end of a Lua long bracket and templates can occur only in JSON
 * strings, where a character is written as an escape, so the script contains neither.
 */
function scriptReturning(result: JsonValue): string {
  const json = JSON.stringify(result).replaceAll(']=', String.raw`]\u003d`).replaceAll('{{', String.raw`{\u007b`);
  return `-- The pinned result of this step\nreturn json.decode([=[${json}]=])`;
}
