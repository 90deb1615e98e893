import { effectiveEntry } from '@/server/orchestrator/core/tool-entries.ts';
import type { Inputs, Outputs } from '../trpc/provider.tsx';

export type AgentTools = NonNullable<Inputs['agents_patch']['tools']>;
type McpEntry = Extract<AgentTools[number], { type: 'mcp' }>;
export type CatalogTool = Outputs['mcp_tools_list']['tools'][number];
/** An agent's policy for a tool: call it, ask a person first, or never call it. */
export type Choice = 'auto' | 'ask' | 'never';

/** Returns the names of the tools of an entry. */
export function namesOf(entry: AgentTools[number]): readonly string[] {
  switch (entry.type) {
    case 'mcp':
      return entry.tools;
    case 'workflow':
      return entry.workflow_ids;
    case 'agent':
      return [entry.agent_id];
    case 'platform':
      return entry.operations;
    case 'ask_user':
    case 'memory':
      return [entry.type];
  }
}

export type ToolFacts = { reads: boolean; destroys: boolean };

/** Returns the facts from a tool's annotations. A tool without annotations may do anything. */
export function factsOf({ annotations }: Pick<CatalogTool, 'annotations'>): ToolFacts {
  return { reads: annotations?.readOnlyHint === true, destroys: annotations?.destructiveHint === true };
}

/** Returns the server's default for a tool that an agent lists without an `approval`. */
export function defaultChoice({ reads, destroys }: ToolFacts): Choice {
  return reads && !destroys ? 'auto' : 'ask';
}

/** Returns the choices for the tools of an instance. Tools that the agent does not list are never called. */
export function choicesOf(
  tools: AgentTools,
  instanceId: string,
  catalog: readonly CatalogTool[],
): Record<string, Choice> {
  const choices: Record<string, Choice> = {};
  for (const tool of catalog) {
    const facts = factsOf(tool);
    const entry = effectiveFor(tools, instanceId, tool.name);
    if (entry === undefined || entry.approval === 'deny') choices[tool.name] = 'never';
    else choices[tool.name] = facts.destroys ? 'ask' : (entry.approval ?? defaultChoice(facts));
  }
  return choices;
}

const isOf = (entry: AgentTools[number], instanceId: string): entry is McpEntry =>
  entry.type === 'mcp' && entry.instance_id.toLowerCase() === instanceId.toLowerCase();

/** Returns the effective settings of a tool, as the service reads the entries of its instance. */
const effectiveFor = (tools: AgentTools, instanceId: string, name: string) =>
  effectiveEntry(
    tools.filter(entry => isOf(entry, instanceId)),
    name,
  );

/** Replaces the choices for one instance. Removes the instance if no tool may be called. */
export function withChoices(tools: AgentTools, instanceId: string, choices: Record<string, Choice>): AgentTools {
  const toolsWith = (choice: Choice) => Object.keys(choices).filter(name => choices[name] === choice);
  const entries = (['auto', 'ask'] as const).flatMap(approval => {
    const names = toolsWith(approval);
    // The policies for lost calls are kept.
    return [undefined, 'retry' as const, 'ask' as const].flatMap(on_lost => {
      const chosen = names.filter(name => effectiveFor(tools, instanceId, name)?.onLost === on_lost);
      if (chosen.length === 0) return [];
      const entry = { type: 'mcp' as const, instance_id: instanceId, tools: chosen, approval };
      return [on_lost === undefined ? entry : { ...entry, on_lost }];
    });
  });
  // Entries of other types do not change.
  return [...tools.filter(entry => !isOf(entry, instanceId)), ...entries];
}

/**
 * The policy for a call that was interrupted by the end of Baton's process. `default`: a person decides if the tool
 * says that it may destroy and does not say that it is idempotent; other calls are made again.
 */
export type OnLost = 'default' | 'ask' | 'retry';

/** Returns the policy for lost calls of all tools of an instance; undefined if the tools have different policies. */
export function onLostOf(tools: AgentTools, instanceId: string): OnLost | undefined {
  const chosen = tools.flatMap((entry): OnLost[] => (isOf(entry, instanceId) ? [entry.on_lost ?? 'default'] : []));
  const [first = 'default', ...others] = new Set(chosen);
  return others.length === 0 ? first : undefined;
}

/** Sets the policy for lost calls of all tools of an instance. */
export function withOnLost(tools: AgentTools, instanceId: string, onLost: OnLost): AgentTools {
  return tools.map(entry => {
    if (!isOf(entry, instanceId)) return entry;
    const { on_lost: _, ...others } = entry;
    return onLost === 'default' ? others : { ...others, on_lost: onLost };
  });
}

/** Returns the instances whose tools an agent may call, in the order of its entries. */
export function instancesOf(tools: AgentTools): string[] {
  return [...new Set(tools.flatMap(entry => (entry.type === 'mcp' ? entry.instance_id.toLowerCase() : [])))];
}

/** Returns the names of an agent's tools by effective approval, for people who may not list the tools of instances. */
export function effectiveNames(tools: AgentTools): { names: string[]; approval: string | undefined }[] {
  const lists = [
    ...instancesOf(tools).map(id => tools.filter(entry => isOf(entry, id))),
    tools.flatMap(entry => (entry.type === 'platform' ? [{ ...entry, tools: entry.operations }] : [])),
    [...new Set(tools.flatMap(entry => (entry.type === 'ask_user' || entry.type === 'memory' ? entry.type : [])))].map(
      type => ({ tools: [type] }),
    ),
  ];
  return lists.flatMap(entries => {
    const all = new Set(entries.flatMap(entry => entry.tools));
    const byApproval = Map.groupBy(all, name => effectiveEntry(entries, name)?.approval);
    return [...byApproval].map(([approval, names]) => ({ names, approval }));
  });
}
