import { isObject } from '@/server/platform/json.ts';
import type { ScopeName } from '../../settings/scopes.ts';

const NEEDS_TOOLS: readonly unknown[] = ['mcp_call', 'http_request', 'agent', 'call_workflow'];
const NEEDS_MODELS: readonly unknown[] = ['llm_call', 'agent', 'call_workflow'];

const typesIn = (steps: unknown): unknown[] =>
  Array.isArray(steps) ? steps.flatMap(step => (isObject(step) ? [step.type, ...typesIn(step.steps)] : [])) : [];

/**
 * Returns the scopes that a token needs to start a workflow with these steps (docs/specification/runs.md#start), and no other. A called
 * workflow may have any steps, so that it needs them all.
 */
export function startScopes(steps: unknown): ScopeName[] {
  const types = typesIn(steps);
  return [
    'workflow:run',
    ...(types.some(type => NEEDS_TOOLS.includes(type)) ? (['mcp:execute'] as const) : []),
    ...(types.some(type => NEEDS_MODELS.includes(type)) ? (['ai:use'] as const) : []),
  ];
}
