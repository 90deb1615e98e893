import { effectiveEntry } from '@/server/orchestrator/core/tool-entries.ts';
import type { AgentTools } from './tool-choices.ts';

/** The kinds of workflows that can be tools of an agent. */
export type RunToolKind = 'workflow' | 'agent';
/** The choices for a workflow or agent as a tool. `default`: a call asks, unless the workflow is marked as only reading. */
export type RunChoice = 'default' | 'auto' | 'ask' | 'never';
type RunEntry = Extract<AgentTools[number], { type: RunToolKind }>;

const idsOf = (entry: RunEntry): string[] =>
  (entry.type === 'workflow' ? entry.workflow_ids : [entry.agent_id]).map(id => id.toLowerCase());

const isOf = (entry: AgentTools[number], kind: RunToolKind): entry is RunEntry => entry.type === kind;

/** Returns the workflows or agents among the tools of an agent with their effective choices. */
export function runToolsOf(tools: AgentTools, kind: RunToolKind): { id: string; choice: RunChoice }[] {
  const entries = tools
    .filter(entry => isOf(entry, kind))
    .map(entry => ({ tools: idsOf(entry), approval: entry.approval }));
  return [...new Set(entries.flatMap(entry => entry.tools))].map(id => {
    const approval = effectiveEntry(entries, id)?.approval;
    return { id, choice: approval === 'deny' ? 'never' : (approval ?? 'default') };
  });
}

/** Sets the choice for a workflow or an agent. Without `choice`, removes the tool. */
export function withRunTool(
  tools: AgentTools,
  kind: RunToolKind,
  { id, choice }: { id: string; choice?: RunChoice },
): AgentTools {
  const others = tools.flatMap((entry): AgentTools => {
    if (!isOf(entry, kind) || !idsOf(entry).includes(id)) return [entry];
    if (entry.type === 'agent') return [];
    const left = entry.workflow_ids.filter(each => each.toLowerCase() !== id);
    return left.length === 0 ? [] : [{ ...entry, workflow_ids: left }];
  });
  if (choice === undefined) return others;
  const approval = choice === 'default' ? {} : { approval: choice === 'never' ? ('deny' as const) : choice };
  const added =
    kind === 'workflow'
      ? { type: 'workflow' as const, workflow_ids: [id], ...approval }
      : { type: 'agent' as const, agent_id: id, ...approval };
  return [...others, added];
}
