import { isObject } from '../../../platform/json.ts';
import type { GraphStep, JsonValue } from '../../core/index.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { Reached } from '../../ports/step-type.ts';

/** Returns the instances and agents to which an agent step can send data; null if only the run decides. */
export function reaches({ agent_id: agentId, tools }: GraphStep): Reached | null {
  if (typeof agentId === 'string') return hasTemplate(agentId) ? null : { agents: [agentId] };
  // A run that the agent starts may send data anywhere.
  return startsRuns(tools) ? null : { instances: instancesOf(tools) };
}

/** Returns whether the tools of an agent include workflows or other agents. */
export function startsRuns(tools: JsonValue | undefined): boolean {
  const entries = Array.isArray(tools) ? tools.filter(isObject) : [];
  return entries.some(({ type }) => type === 'workflow' || type === 'agent');
}

/** Returns the MCP instances of an agent's tools. */
export function instancesOf(tools: JsonValue | undefined): string[] {
  const entries = Array.isArray(tools) ? tools.filter(isObject) : [];
  return entries.flatMap(({ type, instance_id: id }) => (type === 'mcp' && typeof id === 'string' ? [id] : []));
}
