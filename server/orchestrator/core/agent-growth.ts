import { type AgentView, atLimit, type NumberedCall, nextOfAgent } from './agent-turns.ts';
import type { Draft } from './draft.ts';
import { endAdded, stepFails } from './ending.ts';
import type { AddedStep, AgentLimit, StepError } from './events.ts';
import type { AgentExpansion } from './growth.ts';
import { stepState } from './state.ts';
import { approvalId, callId, compactionId, turnId } from './step-ids.ts';

/** The number of retries of a turn that the provider did not answer. */
const TURN_RETRIES = 2;
/** The number of steps, with their fields, that fit into an event without becoming a large value. */
const STEPS_PER_EVENT = 24;

/** Adds the next steps of an agent, which are its next turn or the calls of its last one; or ends it at a limit or after a failure. */
export function growAgent(draft: Draft, parent: string, expansion: AgentExpansion): void {
  if (expansion.failure !== null) {
    failAgent(draft, parent, expansion.failure);
    return;
  }
  if (draft.state.status !== 'running') return;
  const next = nextOfAgent(expansion);
  switch (next.do) {
    case 'turn':
      addSteps(draft, parent, [turnOf(parent, expansion, next.closing)]);
      return;
    case 'calls':
      addSteps(draft, parent, callsOf(turnId(parent, expansion.turns), next.calls));
      return;
    case 'compact':
      addSteps(draft, parent, [compactionOf(parent, expansion)]);
      return;
    case 'fail':
      stepFails(draft, parent, limitError(expansion, next.limit), {}, turnId(parent, expansion.turns));
      return;
    case 'wait':
    case 'end':
      return;
  }
}

/**
 * Ends the turns and calls of an agent whose time is up, after adding its closing turn. Returns false if the agent has to
 * fail instead.
 */
export function timeOfAgentIsUp(draft: Draft, parent: string, expansion: AgentExpansion): boolean {
  const { closing, end } = expansion;
  // The closing turn has not ended in time either: the agent ends with the results that it has.
  const isOver = closing !== null && end !== null && draft.now >= end;
  if (!isOver) {
    if (atLimit(expansion, 'timeout').do !== 'turn') return false;
    // Added before the others are ended: an agent without open steps counts as ended.
    addSteps(draft, parent, [turnOf(parent, expansion, 'timeout')]);
  }
  endAdded(draft, parent, { cancel: 'limit_reached', causedBy: parent, skip: 'blocked' });
  return true;
}

function failAgent(draft: Draft, parent: string, { step, error }: { step: string; error: StepError }): void {
  endAdded(draft, parent, { cancel: 'step_failed', causedBy: step, skip: 'blocked' });
  const message = `"${step}" failed: ${error.message}`;
  stepFails(draft, parent, { code: error.code, message }, {}, step);
}

function addSteps(draft: Draft, parent: string, steps: AddedStep[]): void {
  const { attempt } = stepState(draft.state, parent);
  for (let at = 0; at < steps.length; at += STEPS_PER_EVENT) {
    const data = { parent, steps: steps.slice(at, at + STEPS_PER_EVENT) };
    draft.events.push({ at: draft.now, type: 'steps_added', step: parent, attempt, data });
  }
}

function turnOf(parent: string, expansion: AgentExpansion, closing: AgentLimit | null): AddedStep {
  const { plan, turns } = expansion;
  const fields = { model: plan.model, retry_count: TURN_RETRIES, ...(closing !== null && { closing }) };
  const depends_on = closing === 'timeout' ? [] : stepsBefore(parent, expansion);
  return { id: turnId(parent, turns + 1), type: 'agent_turn', depends_on, fields };
}

/** Returns a compaction step. After a refused turn it assumes a smaller context window. */
function compactionOf(parent: string, expansion: AgentExpansion): AddedStep {
  const { plan, compactions, overflow } = expansion;
  const hasOverflowed = overflow === 'compact';
  const fields = {
    model: plan.model,
    retry_count: TURN_RETRIES,
    ...(hasOverflowed && { overflow: Math.floor(expansion.context) }),
  };
  // Steps that depend on a failed turn would never begin.
  const depends_on = hasOverflowed ? [] : stepsBefore(parent, expansion);
  return { id: compactionId(parent, compactions + 1), type: 'agent_compaction', depends_on, fields };
}

/** Returns the dependencies of the next turn: the compaction just made, or the last turn with its calls. All have ended. */
function stepsBefore(parent: string, { steps, turns, compactions, isCompacted }: AgentExpansion): string[] {
  if (isCompacted) return [compactionId(parent, compactions)];
  const before = turns === 0 ? [] : [turnId(parent, turns)];
  const prefix = `${turnId(parent, turns)}.`;
  // The approvals of these calls have ended before the calls.
  const calls = steps.filter(id => id.startsWith(prefix) && !id.endsWith(approvalId('')));
  return [...before, ...calls];
}

function callsOf(turn: string, calls: readonly NumberedCall[]): AddedStep[] {
  return calls.flatMap(({ tool, policy, grant, outside_input, private_input, number }) => {
    const id = callId(turn, number);
    // A failed call does not fail the agent: the model receives its error.
    const fields = { tool, on_error: 'continue' };
    const call = {
      id,
      type: 'agent_tool',
      depends_on: [turn],
      fields: {
        ...fields,
        ...(grant !== undefined && { grant }),
        ...(outside_input !== undefined && { outside_input }),
        ...(private_input !== undefined && { private_input }),
      },
    };
    if (policy !== 'ask') return [call];
    const approval = { id: approvalId(id), type: 'agent_approval', depends_on: [turn], fields };
    return [approval, { ...call, depends_on: [turn, approval.id] }];
  });
}

function limitError({ plan }: Pick<AgentView, 'plan'>, limit: AgentLimit): StepError {
  switch (limit) {
    case 'max_turns':
      return {
        code: 'max_turns_reached',
        message: `The agent reached its max_turns, ${plan.max_turns}, before it answered.`,
      };
    case 'max_tool_calls':
      return {
        code: 'max_tool_calls_reached',
        message: `The agent wanted more calls than its max_tool_calls, ${plan.max_tool_calls}.`,
      };
    case 'budget':
      return { code: 'agent_budget_spent', message: 'The agent would spend more than its budget.' };
    case 'repeated_calls':
      return { code: 'repeated_calls', message: 'The agent made the same call again and again, with the same result.' };
    case 'timeout':
      return { code: 'step_timed_out', message: 'The agent did not answer in time.' };
  }
}
