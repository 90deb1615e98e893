import { usableBudget } from './agent-turns.ts';
import type { AgentBounds, ChildCall } from './events.ts';
import { type AgentExpansion, isAgent } from './growth.ts';
import { isEnded, type RunState, stepState } from './state.ts';
import { addedId, agentStepType } from './step-ids.ts';

/** Returns the agent under which a step is, such as a call that its model asked for; null for any other step. */
export function callingAgent(state: RunState, step: string): AgentExpansion | null {
  const parent = addedId(step)?.parent;
  const expansion = parent === undefined ? undefined : state.grown?.parents.get(parent);
  return expansion !== undefined && isAgent(expansion) ? expansion : null;
}

/**
 * Returns the call of a run with its limits and budget: what is left of the limits and the budget of the calling agent,
 * and of the budget of the run. Concurrent calls share the rest. Null: the budget does not cover a run.
 */
export function boundedCall(state: RunState, step: string, call: ChildCall, now: number): ChildCall | null {
  const agent = call.agent === undefined ? null : callingAgent(state, step);
  if (call.agent === undefined || agent === null) {
    // Below an agent, the calling agent's budget limits a call.
    if (state.started?.parent?.agents === undefined) return call;
    // The budget of a detached run counts as spent (call-state.ts), so the first such run must not get the whole rest.
    const sharing = Math.max(1, state.inFlight.size) + (call.detach === true ? 1 : 0);
    const left = leftOfRun(state) / sharing;
    return Number.isFinite(left) ? { ...call, budget: Math.max(0, Math.floor(left)) } : call;
  }
  const limited = { ...call, agent: { id: call.agent.id, limits: boundsOf(agent, now) } };
  const left = Math.min(leftOfAgent(state, agent), leftOfRun(state)) / Math.max(1, callsToBegin(state, agent));
  if (!Number.isFinite(left)) return limited;
  const budget = Math.floor(left);
  return budget < 1 ? null : { ...limited, budget };
}

function boundsOf({ plan, turns, toolCalls, deadline }: AgentExpansion, now: number): AgentBounds {
  return {
    max_turns: Math.max(1, plan.max_turns - turns),
    max_tool_calls: Math.max(0, plan.max_tool_calls - toolCalls),
    ...(deadline !== null && { timeout_s: Math.max(1, Math.ceil((deadline - now) / 1000)) }),
  };
}

/** Returns the microcredits that have not been assigned to a call yet; infinite without a limit. */
function leftOfAgent(state: RunState, { plan, spent, steps }: AgentExpansion): number {
  return usableBudget(plan) - spent - givenTo(state, steps);
}

function leftOfRun(state: RunState): number {
  const { started, credits, childrenSpent, calling } = state;
  const { budget = Number.POSITIVE_INFINITY } = started ?? {};
  return budget - credits - childrenSpent - givenTo(state, calling);
}

/** Returns the total of the budgets of called runs that have not ended. */
function givenTo(state: RunState, steps: Iterable<string>): number {
  let given = 0;
  for (const step of steps) if (state.calling.has(step)) given += state.steps.get(step)?.call?.budget ?? 0;
  return given;
}

/** The number of calls of the last turn that may still call a run, including the current one. */
const callsToBegin = (state: RunState, { steps }: AgentExpansion): number =>
  steps.filter(id => agentStepType(id) === 'agent_tool' && !isEnded(stepState(state, id)) && !state.calling.has(id))
    .length;
