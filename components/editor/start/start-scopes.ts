import { stepTypeDescription } from '@/server/orchestrator/steps/descriptions.ts';
import { isObject } from '@/server/platform/json.ts';
import type { ScopeName } from '../../settings/scopes.ts';

const GUARDED = ['mcp:execute', 'ai:use'] as const satisfies ScopeName[];

/** Returns whether steps of the type may need a scope. A called workflow may contain any step. */
const needs = (type: unknown, scope: ScopeName): boolean =>
  type === 'call_workflow' || [stepTypeDescription(String(type))?.startScope ?? []].flat().includes(scope);

const typesIn = (steps: unknown): unknown[] =>
  Array.isArray(steps) ? steps.flatMap(step => (isObject(step) ? [step.type, ...typesIn(step.steps)] : [])) : [];

/** Returns exactly the scopes that a token needs to start a workflow with these steps (docs/specification/runs.md#start). */
export function startScopes(steps: unknown): ScopeName[] {
  const types = typesIn(steps);
  return ['workflow:run', ...GUARDED.filter(scope => types.some(type => needs(type, scope)))];
}
