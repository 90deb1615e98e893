import { Blocks, Bot, CircleHelp, FileCode2, GitFork, type LucideIcon, UserRoundCheck } from 'lucide-react';

const looks: Record<string, { icon: LucideIcon; label: string }> = {
  lua_script: { icon: FileCode2, label: 'Lua script' },
  condition: { icon: GitFork, label: 'Condition' },
  human_task: { icon: UserRoundCheck, label: 'Human task' },
  mcp_call: { icon: Blocks, label: 'MCP tool call' },
  llm_call: { icon: Bot, label: 'LLM call' },
};

/** How a step type looks and reads; an unknown one (a draft may hold it) is shown by its own name. */
export function stepTypeLook(type: string): { icon: LucideIcon; label: string } {
  return looks[type] ?? { icon: CircleHelp, label: type };
}
