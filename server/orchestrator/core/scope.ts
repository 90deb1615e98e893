import { nextOfAgent } from './agent-turns.ts';
import type { AgentLimit, AgentPlan, JsonMap, JsonValue, SkipReason, StepError } from './events.ts';
import { type AgentExpansion, isAgent } from './growth.ts';
import { type RunState, type StepStatus, stepState } from './state.ts';
import { addedId, agentStepType, approvalId, itemPrefix } from './step-ids.ts';

/**
 * Returns the steps whose results a step may read, by the names that it uses. An authored step may read its ancestors.
 * An added step may read its ancestors in its item, and all that its parent may read. An expanded agent and the steps
 * under it may read the steps under the agent.
 */
export function readableSteps(state: RunState, step: string): ReadonlySet<string> {
  const agent = expandedAgent(state, step);
  if (agent !== null) return new Set(agent.expansion.steps);
  const id = state.grown === null ? null : addedId(step);
  if (id === null) return state.graph.ancestors(step);
  const expansion = state.grown?.parents.get(id.parent);
  const own = expansion === undefined || isAgent(expansion) ? [] : expansion.graph.ancestors(id.name);
  return new Set([...own, ...readableSteps(state, id.parent)]);
}

/** Returns the step that `step` reads by this name, which is one of `readableSteps`. */
export function readStep(state: RunState, step: string, name: string): string {
  const id = state.grown === null ? null : addedId(step);
  // The steps under an agent are read by their full ids.
  if (id === null || addedId(name) !== null) return name;
  const expansion = state.grown?.parents.get(id.parent);
  if (expansion !== undefined && !isAgent(expansion) && expansion.graph.steps.has(name))
    return `${itemPrefix(id.parent, id.index)}${name}`;
  return readStep(state, id.parent, name);
}

/** Returns the item of the innermost loop around the step, and its index from 0; null for a step outside of loops. */
export function itemOf(state: RunState, step: string): { item: JsonValue; index: number } | null {
  const id = state.grown === null ? null : addedId(step);
  const expansion = id === null ? undefined : state.grown?.parents.get(id.parent);
  if (id === null || expansion === undefined || isAgent(expansion)) return null;
  return { item: expansion.items[id.index] ?? null, index: id.index };
}

/** A call that the model of an agent asked for. `status` is null for a call that was not added to the run. */
export type AgentCall = {
  readonly id: string;
  readonly status: StepStatus | null;
  readonly error: StepError | null;
  /** The reason why it was skipped. */
  readonly skipReason?: SkipReason | undefined;
  /** The step that asked a person about the call; undefined for a call without a question. */
  readonly approval?: string | undefined;
};

/** A turn of an agent. `calls`: those that were added to the run, by their numbers in the turn, from 1. */
export type AgentTurn = {
  readonly id: string;
  readonly status: StepStatus;
  readonly calls: ReadonlyMap<number, AgentCall>;
};

/** A compaction of the conversation of an agent. */
export type AgentCompaction = { readonly id: string; readonly status: StepStatus };

/** The input of an agent, and its turns and calls so far. */
export type AgentProgress = {
  readonly step: string;
  readonly plan: AgentPlan;
  readonly settings: JsonMap;
  readonly turns: readonly AgentTurn[];
  readonly compactions: readonly AgentCompaction[];
  /** Calls that were added to the run. */
  readonly toolCalls: number;
  /** The microcredits that the steps under the agent have cost. */
  readonly spent: number;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  /** The limit that ended the agent or made its closing turn due; null for none. */
  readonly limit: AgentLimit | null;
  /** The place where a turn last read text from outside of the workspace; null: nowhere. */
  readonly outside: string | null;
};

/** Returns the progress of an expanded agent, for its own step or a step under it; null for any other step. */
export function agentProgress(state: RunState, step: string): AgentProgress | null {
  const agent = expandedAgent(state, step);
  if (agent === null) return null;
  const { id, expansion } = agent;
  const { plan, settings, toolCalls, spent, usage, outside } = expansion;
  const next = nextOfAgent(expansion);
  const limit = expansion.closing ?? (next.do === 'end' ? next.limit : null);
  const turns = turnsOf(state, expansion);
  const compactions = expansion.steps
    .filter(each => agentStepType(each) === 'agent_compaction')
    .map(each => ({ id: each, status: stepState(state, each).status }));
  return { step: id, plan, settings, turns, compactions, toolCalls, spent, usage: { ...usage }, limit, outside };
}

function expandedAgent(state: RunState, step: string): { id: string; expansion: AgentExpansion } | null {
  if (state.grown === null) return null;
  const id = agentStepType(step) === null ? step : (addedId(step)?.parent ?? step);
  const expansion = state.grown.parents.get(id);
  return expansion !== undefined && isAgent(expansion) ? { id, expansion } : null;
}

function turnsOf(state: RunState, { steps }: AgentExpansion): AgentTurn[] {
  const turns: { id: string; status: StepStatus; calls: Map<number, AgentCall> }[] = [];
  // Each approval is added before its call.
  const approvals = new Set<string>();
  for (const id of steps) {
    const { status, error = null, skipReason } = stepState(state, id);
    const type = agentStepType(id);
    if (type === 'agent_turn') turns.push({ id, status, calls: new Map() });
    else if (type === 'agent_approval') approvals.add(id);
    else if (type === 'agent_tool') {
      const approval = approvals.has(approvalId(id)) ? approvalId(id) : undefined;
      turns.at(-1)?.calls.set(Number(addedId(id)?.name), { id, status, error, skipReason, approval });
    }
  }
  return turns;
}
