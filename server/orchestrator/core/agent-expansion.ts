import { nextOfAgent } from './agent-turns.ts';
import { type CompiledStep, MAX_RETRY_COUNT } from './compile.ts';
import type { AddedStep, AgentLimit, AgentPlan, JsonMap, RunEvent, StepError } from './events.ts';
import type { GraphStep } from './graph.ts';
import { type AgentExpansion, type Growth, inMemoryAtOnce, isAgent } from './growth.ts';
import { forgetResult, hold } from './holding.ts';
import { judge, move } from './moves.ts';
import { effectiveStep, isEnded, newStep, type RunState, stepState } from './state.ts';
import { addedId, approvalId } from './step-ids.ts';
import { BYTES_PER_ADDED_STEP, sizeOf } from './stored-value.ts';

/** The error of a turn whose conversation is longer than the context window of its model. */
export const CONTEXT_LENGTH_EXCEEDED = 'context_length_exceeded';
/** After a model refused a conversation as too long, the agent keeps the conversation below this share of its length. */
const OVERFLOWED_SHARE = 0.7;

type OfAgent = { id: string; expansion: AgentExpansion };

/** Folds the `step_expanded` of an agent. */
export function expandAgent(
  state: RunState,
  grown: Growth,
  id: string,
  { plan, settings, at }: { plan: AgentPlan; settings: JsonMap; at: number },
): void {
  const expansion: AgentExpansion = {
    plan,
    settings,
    deadline: plan.timeout_s === undefined ? null : at + (plan.timeout_s - (plan.closing_s ?? 0)) * 1000,
    end: plan.timeout_s === undefined || plan.closing_s === undefined ? null : at + plan.timeout_s * 1000,
    steps: [],
    open: 0,
    turns: 0,
    lastTurn: null,
    callsAdded: null,
    toolCalls: 0,
    spent: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    dearestTurn: 0,
    dearestCall: 0,
    same: new Map(),
    sameCalls: 0,
    context: plan.context ?? 0,
    compactAt: plan.compact_at ?? Number.POSITIVE_INFINITY,
    compactions: 0,
    isCompacted: false,
    overflow: 'none',
    closing: null,
    outside: null,
    failure: null,
  };
  grown.parents.set(id, expansion);
  grown.planned += inMemoryAtOnce(plan, 0);
  grown.reserved += inMemoryAtOnce(plan, 0);
  hold(state, sizeOf(settings));
  move(state, id, stepState(state, id), 'expanded');
  refresh(state, grown, { id, expansion });
}

/** Folds the `steps_added` of an agent: a turn, or the calls of one with their approvals. */
export function addAgentSteps(state: RunState, grown: Growth, agent: OfAgent, steps: readonly AddedStep[]): void {
  const { expansion } = agent;
  for (const added of steps) {
    const compiled = compiledStep(added);
    const open = compiled.dependencies.filter(id => !isEnded(stepState(state, id))).length;
    for (const id of compiled.dependencies) {
      const before = grown.steps.get(id);
      if (before !== undefined) grown.steps.set(id, { ...before, dependents: [...before.dependents, added.id] });
    }
    const step = newStep(open);
    grown.steps.set(added.id, compiled);
    grown.added += 1;
    state.steps.set(added.id, step);
    state.residentBytes += BYTES_PER_ADDED_STEP;
    expansion.steps.push(added.id);
    expansion.open += 1;
    recordStep(expansion, added);
    if (open === 0) judge(state, added.id, step);
  }
  refresh(state, grown, agent);
}

/** Records what an added step says about its agent. */
function recordStep(expansion: AgentExpansion, { type, fields }: AddedStep): void {
  if (type === 'agent_turn') {
    expansion.turns += 1;
    if (expansion.overflow !== 'none') expansion.overflow = 'repeated';
    expansion.lastTurn = null;
    expansion.callsAdded = null;
    const closing = fields?.closing;
    if (typeof closing !== 'string') return;
    // Only the core writes this field.
    expansion.closing = closing as AgentLimit;
    expansion.deadline = expansion.end;
  } else if (type === 'agent_tool') {
    expansion.callsAdded = (expansion.callsAdded ?? 0) + 1;
    expansion.toolCalls += 1;
  } else if (type === 'agent_compaction') {
    expansion.compactions += 1;
    expansion.isCompacted = true;
    if (expansion.overflow === 'compact') expansion.overflow = 'repeat';
  }
}

/** Compiles an added step. A call depends on its approval if that was added with it. */
function compiledStep({ id, type, depends_on = [], fields = {} }: AddedStep): CompiledStep {
  const spec: GraphStep = { ...fields, id, type, depends_on };
  const retries = typeof spec.retry_count === 'number' ? Math.min(MAX_RETRY_COUNT, spec.retry_count) : 0;
  const approval = approvalId(id);
  return {
    spec,
    index: 0,
    dependencies: depends_on,
    dependents: [],
    retryCount: retries,
    retryDelayMs: 1_000,
    branches: null,
    approval: depends_on.includes(approval) ? approval : null,
    inner: null,
  };
}

type Noted = Extract<RunEvent, { type: 'step_completed' | 'step_failed' | 'step_retrying' }>;

/** Records what an event says about the agent of its step. Called before the event is folded. */
export function noteAgentEvent(state: RunState, grown: Growth, event: Noted): void {
  const id = addedId(event.step);
  const expansion = id === null ? undefined : grown.parents.get(id.parent);
  if (expansion === undefined || !isAgent(expansion)) return;
  const { type } = effectiveStep(state, event.step).spec;
  const credits = ('credits' in event.data && event.data.credits) || 0;
  expansion.spent += credits;
  for (const { action, quantity } of ('consumed' in event.data && event.data.consumed) || []) {
    if (action === 'llm_input_tokens') expansion.usage.inputTokens += quantity;
    if (action === 'llm_output_tokens') expansion.usage.outputTokens += quantity;
  }
  if (type === 'agent_turn') expansion.dearestTurn = Math.max(expansion.dearestTurn, credits);
  if (type === 'agent_tool') {
    expansion.dearestCall = Math.max(expansion.dearestCall, credits);
    noteResult(expansion, id, event);
  }
  if (type === 'agent_turn' && event.type === 'step_failed') noteOverflow(expansion, event.data.error);
  if (event.type !== 'step_completed' || 'skipped' in event.data) return;
  noteContext(expansion, type, event.data.context ?? 0);
  if (type !== 'agent_turn') return;
  expansion.lastTurn = event.data.turn ?? { calls: [] };
  expansion.closing ??= expansion.lastTurn.limit ?? null;
  expansion.outside = expansion.lastTurn.outside ?? expansion.outside;
  for (const { tool, hash, policy } of expansion.lastTurn.calls)
    if (policy === 'none') repeat(expansion, `${tool} ${hash}`);
}

/** Records that the conversation is too long for the model. It is compacted if possible; the turn after that is not repeated again. */
function noteOverflow(expansion: AgentExpansion, { code }: StepError): void {
  if (code !== CONTEXT_LENGTH_EXCEEDED || expansion.plan.compact_at === undefined) return;
  if (expansion.overflow !== 'none') return;
  expansion.overflow = 'compact';
  // The model's context window is smaller than was assumed.
  if (expansion.context === 0) return;
  expansion.compactAt = Math.min(expansion.compactAt, Math.floor(expansion.context * OVERFLOWED_SHARE));
}

function noteContext(expansion: AgentExpansion, type: string, context: number): void {
  if (type === 'agent_tool') {
    expansion.context += context;
    return;
  }
  if (context > 0) expansion.context = context;
  if (type !== 'agent_turn') return;
  expansion.overflow = 'none';
  expansion.isCompacted = false;
}

/** Counts repetitions of a call: the same call with the result, or the error, of an earlier one makes no progress. */
function noteResult(expansion: AgentExpansion, id: { name: string } | null, event: Noted): void {
  const call = expansion.lastTurn?.calls[Number(id?.name) - 1];
  if (call === undefined || event.type === 'step_retrying') return;
  if (event.type === 'step_failed')
    repeat(expansion, `${call.tool} ${call.hash} ${event.data.error.code} ${event.data.error.message}`);
  else if ('digest' in event.data && event.data.digest !== undefined)
    repeat(expansion, `${call.tool} ${call.hash} ${event.data.digest}`);
}

function repeat(expansion: AgentExpansion, call: string): void {
  const times = (expansion.same.get(call) ?? 0) + 1;
  expansion.same.set(call, times);
  expansion.sameCalls = Math.max(expansion.sameCalls, times);
}

/**
 * Handles the end of a step under an agent. The model receives the error of a failed call; any other failure ends the agent.
 */
export function afterAgentStep(
  state: RunState,
  grown: Growth,
  agent: OfAgent,
  { step, failure }: { step: string; failure: StepError | null },
): void {
  agent.expansion.open -= 1;
  // The failure of a turn that is repeated does not fail the agent.
  if (failure !== null && agent.expansion.overflow !== 'compact') agent.expansion.failure ??= { step, error: failure };
  refresh(state, grown, agent);
}

/** Removes the steps under an agent from memory once the agent itself has ended. */
export function closeAgent(state: RunState, grown: Growth, id: string, expansion: AgentExpansion): void {
  const { plan, settings, steps } = expansion;
  grown.parents.delete(id);
  grown.due.delete(id);
  grown.planned -= inMemoryAtOnce(plan, 0) - steps.length;
  grown.reserved -= inMemoryAtOnce(plan, 0);
  hold(state, -sizeOf(settings));
  for (const each of steps) {
    const { answered, error } = stepState(state, each);
    if (answered) grown.answered.add(each);
    if (error !== undefined) state.residentBytes -= sizeOf(error);
    forgetResult(state, each);
    state.results.delete(each);
    state.steps.delete(each);
    grown.steps.delete(each);
    state.residentBytes -= BYTES_PER_ADDED_STEP;
  }
}

/** Updates whether the agent needs a decision. Once it has its answer, it may begin for the last time. */
function refresh(state: RunState, grown: Growth, { id, expansion }: OfAgent): void {
  const next = nextOfAgent(expansion);
  if (expansion.failure !== null || (next.do !== 'wait' && next.do !== 'end')) {
    grown.due.add(id);
    return;
  }
  grown.due.delete(id);
  const step = stepState(state, id);
  if (next.do === 'end' && step.status === 'expanded') move(state, id, step, 'ready');
}
