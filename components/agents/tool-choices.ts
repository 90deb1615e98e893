import type { Inputs, Outputs } from '../trpc/provider.tsx';

export type AgentTools = NonNullable<Inputs['agents_patch']['tools']>;
type McpEntry = Extract<AgentTools[number], { type: 'mcp' }>;
export type CatalogTool = Outputs['mcp_tools_list']['tools'][number];
/** An agent's policy for a tool: call it, ask a person first, or never call it. */
export type Choice = 'auto' | 'ask' | 'never';

/** The names of the tools of an entry. */
export function namesOf(entry: AgentTools[number]): readonly string[] {
  switch (entry.type) {
    case 'mcp':
      return entry.tools;
    case 'platform':
      return entry.operations;
    case 'ask_user':
    case 'memory':
      return [entry.type];
  }
}

export type ToolFacts = { reads: boolean; destroys: boolean };

/** Returns what a tool's annotations say about it. A tool without annotations may do anything. */
export function factsOf({ annotations }: Pick<CatalogTool, 'annotations'>): ToolFacts {
  return { reads: annotations?.readOnlyHint === true, destroys: annotations?.destructiveHint === true };
}

/** Returns the server's default for a tool that an agent names without an `approval`. */
export function defaultChoice({ reads, destroys }: ToolFacts): Choice {
  return reads && !destroys ? 'auto' : 'ask';
}

/** The choices for the tools of an instance; tools that the agent does not name are never called. */
export function choicesOf(
  tools: AgentTools,
  instanceId: string,
  catalog: readonly CatalogTool[],
): Record<string, Choice> {
  const choices: Record<string, Choice> = {};
  for (const tool of catalog) {
    const facts = factsOf(tool);
    const entry = entryFor(tools, instanceId, tool.name);
    if (entry === undefined || entry.approval === 'deny') choices[tool.name] = 'never';
    else choices[tool.name] = facts.destroys ? 'ask' : (entry.approval ?? defaultChoice(facts));
  }
  return choices;
}

const isOf = (entry: AgentTools[number], instanceId: string): entry is McpEntry =>
  entry.type === 'mcp' && entry.instance_id === instanceId;

/** The entry that decides: one that names the tool goes before one that means all. */
function entryFor(tools: AgentTools, instanceId: string, name: string) {
  const own = tools.filter(entry => isOf(entry, instanceId));
  return own.find(entry => entry.tools.includes(name)) ?? own.find(entry => entry.tools.includes('*'));
}

/** The tools of an agent with the choices for one instance in place of what it had; without any choice the instance goes. */
export function withChoices(tools: AgentTools, instanceId: string, choices: Record<string, Choice>): AgentTools {
  const named = (choice: Choice) => Object.keys(choices).filter(name => choices[name] === choice);
  const entries = (['auto', 'ask'] as const).flatMap(approval => {
    const names = named(approval);
    // What was said of calls that may have happened stays.
    return [undefined, 'retry' as const, 'ask' as const].flatMap(on_lost => {
      const chosen = names.filter(name => entryFor(tools, instanceId, name)?.on_lost === on_lost);
      if (chosen.length === 0) return [];
      const entry = { type: 'mcp' as const, instance_id: instanceId, tools: chosen, approval };
      return [on_lost === undefined ? entry : { ...entry, on_lost }];
    });
  });
  // Entries of other types stay as they are.
  return [...tools.filter(entry => !isOf(entry, instanceId)), ...entries];
}

/**
 * The policy for a call during which Baton ends. `default`: a person decides if the tool says that it may destroy and
 * does not say that it is idempotent; other calls are made again.
 */
export type OnLost = 'default' | 'ask' | 'retry';

/** Returns the policy chosen for all tools of an instance; undefined where they differ. */
export function onLostOf(tools: AgentTools, instanceId: string): OnLost | undefined {
  const chosen = tools.flatMap((entry): OnLost[] => (isOf(entry, instanceId) ? [entry.on_lost ?? 'default'] : []));
  const [first = 'default', ...others] = new Set(chosen);
  return others.length === 0 ? first : undefined;
}

/** The tools of an agent with this chosen for all tools of an instance. */
export function withOnLost(tools: AgentTools, instanceId: string, onLost: OnLost): AgentTools {
  return tools.map(entry => {
    if (!isOf(entry, instanceId)) return entry;
    const { on_lost: _, ...others } = entry;
    return onLost === 'default' ? others : { ...others, on_lost: onLost };
  });
}

/** The instances whose tools an agent may call, in the order in which it names them. */
export function instancesOf(tools: AgentTools): string[] {
  return [...new Set(tools.flatMap(entry => (entry.type === 'mcp' ? entry.instance_id : [])))];
}
