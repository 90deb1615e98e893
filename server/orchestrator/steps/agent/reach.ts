import { isObject } from '../../../platform/json.ts';
import type { GraphStep, JsonValue } from '../../core/index.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { Reached } from '../../ports/step-type.ts';

/** An agent sends something by its tools. */
export function reaches({ agent_id: agentId, tools }: GraphStep): Reached | null {
  if (typeof agentId === 'string') return hasTemplate(agentId) ? null : { agents: [agentId] };
  // What a run does that the agent starts, only that run knows.
  return startsRuns(tools) ? null : { instances: instancesOf(tools) };
}

/** Whether workflows or other agents are among the tools of an agent. */
export function startsRuns(tools: JsonValue | undefined): boolean {
  const entries = Array.isArray(tools) ? tools.filter(isObject) : [];
  return entries.some(({ type }) => type === 'workflow' || type === 'agent');
}

/** The MCP instances among the tools of an agent. */
export function instancesOf(tools: JsonValue | undefined): string[] {
  const entries = Array.isArray(tools) ? tools.filter(isObject) : [];
  return entries.flatMap(({ type, instance_id: id }) => (type === 'mcp' && typeof id === 'string' ? [id] : []));
}
