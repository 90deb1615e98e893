import { isObject, isTexts } from '@/server/platform/json.ts';
import type { AgentTools } from '../../agent-tools/tool-choices.ts';

/** Returns the tools of an agent step as the lists show them; null for a value that the lists cannot show, such as unfinished JSON. */
export function readAgentTools(value: unknown): AgentTools | null {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every(isTool) ? (value as AgentTools) : null;
}

function isTool(value: unknown): boolean {
  if (!isObject(value)) return false;
  switch (value.type) {
    case 'mcp':
      return typeof value.instance_id === 'string' && isTexts(value.tools);
    case 'workflow':
      return isTexts(value.workflow_ids);
    case 'agent':
      return typeof value.agent_id === 'string';
    case 'platform':
      return isTexts(value.operations);
    case 'ask_user':
    case 'memory':
      return true;
    default:
      return false;
  }
}
