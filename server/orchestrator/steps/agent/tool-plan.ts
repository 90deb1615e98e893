import type { z } from 'zod';
import { isId } from '../../../platform/ids.ts';
import {
  ALL_TOOLS,
  contradictions,
  type EffectiveEntry,
  effectiveEntry,
  NO_APPROVALS,
  type ToolEntry,
  type WorkspaceApprovals,
  withWorkspace,
} from '../../core/tool-entries.ts';
import type { Attempt, GraphCheck, Outcome } from '../../ports/step-type.ts';
import { failed } from '../failure.ts';
import { askUserTool } from './ask-user.ts';
import { type PlannedTool, type ToolPolicy, uniqueName } from './plan.ts';
import { PLATFORM, PLATFORM_NAME, type PlatformTools } from './platform-tools.ts';
import type { RunAuthority } from './run-authority.ts';
import { RUN_TOOLS, type RunTools } from './run-tools.ts';
import type { AgentTool } from './settings.ts';
import type { AgentTools, OfferedTool } from './tools.ts';

/** An entry of an agent's `tools`. */
export type ToolsEntry = z.output<typeof AgentTool>;

type Planning = {
  entries: readonly ToolsEntry[];
  /** Tools that are planned already and keep their names. */
  own: readonly PlannedTool[];
  services: {
    agentTools?: AgentTools | undefined;
    platform?: PlatformTools | undefined;
    authority?: RunAuthority | undefined;
    runTools?: RunTools | undefined;
    approvals?: ApprovalSettings | undefined;
  };
};

/** The port of agents to the approvals that their workspace has decided on; the domain of agents implements it. */
export type ApprovalSettings = {
  /** Returns the approvals of the workspace that apply in a run. */
  of(run: Attempt['run'], signal: AbortSignal): Promise<WorkspaceApprovals>;
};

/** The entries of one MCP instance, or all entries of operations, workflows or agents, in their order. */
type Group = {
  type: 'mcp' | 'platform' | 'workflow' | 'agent';
  instanceId: string;
  entries: (ToolEntry & { at: number })[];
};
type Offer = { instance: string; tools: readonly OfferedTool[] };

/** Returns the tools of the agent's entries without duplicates, or the failure of the step. */
export async function plannedTools(
  attempt: Attempt,
  signal: AbortSignal,
  planning: Planning,
): Promise<PlannedTool[] | Outcome> {
  const { entries, own, services } = planning;
  const tools: PlannedTool[] = [...own];
  const approvals = (await services.approvals?.of(attempt.run, signal)) ?? NO_APPROVALS;
  for (const group of groupsOf(entries)) {
    const offer = await offerOf(group, attempt, signal, services);
    if ('kind' in offer) return offer;
    const problem = addTools(tools, group, { ...offer, approvals });
    if (problem !== null) return problem;
  }
  const asks = entries.some(({ type }) => type === 'ask_user');
  if (asks && (await mayAnswer(attempt.run, signal, services.authority))) tools.push(askUserTool());
  return tools;
}

/** Groups entries by instance. Ids are compared case-insensitively. */
function groupsOf(entries: readonly ToolsEntry[]): Group[] {
  const groups = new Map<string, Group>();
  const add = (type: Group['type'], instanceId: string, entry: ToolEntry & { at: number }) => {
    const key = `${type} ${instanceId.toLowerCase()}`;
    const group: Group = groups.get(key) ?? { type, instanceId, entries: [] };
    groups.set(key, group);
    group.entries.push(entry);
  };
  for (const [at, entry] of entries.entries()) {
    switch (entry.type) {
      case 'mcp':
        add('mcp', entry.instance_id, { ...entry, at });
        break;
      case 'platform':
        add('platform', PLATFORM, { ...entry, tools: entry.operations, at });
        break;
      case 'workflow':
        add('workflow', 'workflow', { approval: entry.approval, tools: idsOf(entry.workflow_ids), at });
        break;
      case 'agent':
        add('agent', 'agent', { approval: entry.approval, tools: idsOf([entry.agent_id]), at });
        break;
      case 'ask_user':
      case 'memory':
        break;
    }
  }
  return [...groups.values()];
}

/** Returns the valid ids of an entry. Other text is dropped, because a `*` would include every tool. */
const idsOf = (given: readonly string[]): string[] => given.map(id => id.toLowerCase()).filter(isId);

async function offerOf(
  { type, instanceId, entries }: Group,
  attempt: Attempt,
  signal: AbortSignal,
  { agentTools, platform, runTools }: Planning['services'],
): Promise<Offer | Outcome> {
  const { run } = attempt;
  if (type === 'workflow' || type === 'agent') {
    const ids = [...new Set(entries.flatMap(({ tools }) => tools))];
    const { tools = [], missing = [] } = (await runTools?.offer(run, { kind: type, ids }, signal)) ?? {};
    if (missing.length > 0) attempt.log(missing.map(({ id, why }) => `The tool ${id} is left out: ${why}`));
    return { instance: RUN_TOOLS[type], tools };
  }
  if (type === 'platform') {
    // Operations that the user may not call are not offered to the model.
    const names = [...new Set(entries.flatMap(({ tools }) => tools))];
    return { instance: PLATFORM_NAME, tools: (await platform?.offer(run, names, signal)) ?? [] };
  }
  const { tenantId, projectId } = run;
  const offer = await agentTools?.offer({ tenantId, projectId, instanceId });
  if (offer === undefined) return failed('step_type_unavailable', 'This server has no tool servers configured.');
  if (offer.kind === 'offer') return { instance: offer.instance, tools: offer.tools };
  return { kind: 'failed', error: { code: offer.code, message: offer.message }, retryable: offer.retryable };
}

/** Returns whether the user can answer tasks. A viewer cannot, so the agent has to ask in its answer. */
async function mayAnswer(
  run: Attempt['run'],
  signal: AbortSignal,
  authority: RunAuthority | undefined,
): Promise<boolean> {
  const standing = await authority?.standing(run, signal);
  return standing === undefined || (standing.kind === 'held' && standing.role !== 'project_viewer');
}

/** Adds the tools that the entries of an instance offer. Returns the failure for a name that the instance does not have. */
function addTools(
  into: PlannedTool[],
  { type, instanceId, entries }: Group,
  offer: Offer & { approvals: WorkspaceApprovals },
): Outcome | null {
  const taken = new Set(into.map(({ name }) => name));
  const offered = new Map(offer.tools.map(tool => [tool.name, tool]));
  for (const name of namesOf(entries, offer, type !== 'mcp')) {
    const given = effectiveEntry(entries, name);
    if (given === undefined || given.approval === 'deny') continue;
    const found = offered.get(name);
    if (found === undefined) return failed('unknown_tool', `The instance “${offer.instance}” has no tool “${name}”.`);
    const effective = withWorkspace(given, found, offer.approvals);
    if (effective.approval === 'deny') continue;
    const tool = found.run?.name ?? name;
    const unique = uniqueName(tool, taken);
    taken.add(unique);
    into.push({
      name: unique,
      instance_id: instanceId,
      instance: offer.instance,
      tool,
      description: found.description,
      input_schema: found.inputSchema,
      policy: policyOf(found, effective, type === 'mcp' && given.isWildcard),
      read_only: found.readOnly,
      open_world: found.openWorld,
      ...(found.destructive && { destructive: true as const }),
      ...(found.credentials && { credentials: true as const }),
      ...(asksWhenLost(found, effective) && { on_lost: 'ask' as const }),
      ...(found.run && { run: { workflow_id: name, version: found.run.version } }),
    });
  }
  return null;
}

/** Returns the names of tools in entries. `mayLack`: names that are not offered are left out without an error. */
function namesOf(entries: readonly ToolEntry[], { tools }: Offer, mayLack: boolean): ReadonlySet<string> {
  const offered = tools.map(({ name }) => name);
  return new Set(
    entries.flatMap(entry => {
      if (entry.tools.includes(ALL_TOOLS)) return offered;
      return mayLack ? entry.tools.filter(name => offered.includes(name)) : entry.tools;
    }),
  );
}

/**
 * Returns the policy of a tool. A destructive tool always asks. A tool that writes asks unless its approval is `auto`; if a wildcard gives
 * this approval, it asks after text from outside. A tool that only reads but has an open world could send private data in its arguments:
 * it asks after private data and text from outside, if no entry names it (`isUnnamed`).
 */
function policyOf(tool: OfferedTool, { approval, isWildcard }: EffectiveEntry, isUnnamed: boolean): ToolPolicy {
  if (approval === 'ask' || tool.destructive) return 'ask';
  if (tool.readOnly) return isUnnamed && tool.openWorld ? 'ask_when_private' : 'auto';
  if (approval !== 'auto') return 'ask';
  return isWildcard ? 'ask_when_tainted' : 'auto';
}

/** Returns whether a person decides about a lost call. */
function asksWhenLost(tool: OfferedTool, { onLost }: EffectiveEntry): boolean {
  if (tool.readOnly) return false;
  return onLost === undefined ? tool.destructive && !tool.idempotent : onLost === 'ask';
}

/** Warns of entries with different approvals for a tool, and names the effective one. */
export function warnOfContradictions(entries: readonly ToolsEntry[], graph: Pick<GraphCheck, 'warn'>): void {
  for (const { type, entries: own } of groupsOf(entries)) {
    for (const {
      tool,
      at: [entry, place],
      effective,
    } of contradictions(own)) {
      const counts = effective ?? 'the one without an approval';
      graph.warn({
        path: `tools[${own[entry]?.at ?? 0}].${fieldOf(type, place)}`,
        code: 'contradicting_tools',
        message: `several entries of \`tools\` differ in their approval of “${tool.slice(0, 200)}”: ${counts} is effective`,
      });
    }
  }
}

/** Returns the field of an entry that names a tool. */
function fieldOf(type: Group['type'], place: number): string {
  switch (type) {
    case 'mcp':
      return `tools[${place}]`;
    case 'platform':
      return `operations[${place}]`;
    case 'workflow':
      return `workflow_ids[${place}]`;
    case 'agent':
      return 'agent_id';
  }
}
