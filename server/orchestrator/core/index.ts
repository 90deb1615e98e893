/**
 * The core of the orchestrator: pure functions over ordinary data. No I/O, no clock, no randomness; time, ids and
 * random numbers come in as values.
 *
 *   compile(graph)                 → CompiledGraph, once per published version
 *   newRun(runId, graph)           → RunState before its first event
 *   decide(state, command, now)    → RunEvent[]; throws CommandRefused; [] where a command already holds or an outcome comes too late
 *   evolve(state, event)           → the same state, changed in place
 *   grow(state, now)               → RunEvent[]: what follows from steps that have expanded; asked after each decision
 *   effects(state)                 → what should be going on: attempts that may begin, attempts in flight, timers
 *   isDue(state, timer, now)       → whether a timer is due, also by a clock that was set back
 *   stepSpec(state, step)          → the step's fields for this run, overrides included
 *   phase(state)                   → orchestration_phase
 *   endsBillableAttempt(event)     → whether the event ends an attempt that is paid for
 *   consumedBy(event)              → what such an attempt used besides the step itself
 *   creditsOf(event)               → what it costs
 */

export { CONTEXT_LENGTH_EXCEEDED } from './agent-expansion.ts';
export { MAX_SAME_CALLS, usableBudget } from './agent-turns.ts';
export { diedDuring } from './attempts.ts';
export { type ChildEnd, type Command, CommandRefused, type LeaderTerm } from './commands.ts';
export { type CompiledGraph, type CompiledStep, compile } from './compile.ts';
export { stopOverBudget } from './control.ts';
export { decide } from './decide.ts';
export { effects, isDue, phase } from './effects.ts';
export { AI_BUDGET_EXHAUSTED, BUDGET_SPENT, INSUFFICIENT_CREDITS, isUnpaid } from './ending.ts';
export * from './events.ts';
export { evolve, newRun, sizeOfEarlier } from './evolve.ts';
export {
  allSteps,
  type Graph,
  type GraphStep,
  innerSteps,
  templateOf,
} from './graph.ts';
export { grow } from './grow.ts';
export { type Expansion, isAgent, type LoopExpansion, MAX_ADDED_IN_MEMORY } from './growth.ts';
export { lineageOf, MAX_CALL_DEPTH, rootAbove } from './lineage.ts';
export { consumedBy, creditsOf, type EndedAttempt, endsBillableAttempt } from './metering.ts';
export { outsideInputOf, privateInputOf } from './outside-input.ts';
export { type AgentProgress, type AgentTurn, agentProgress, itemOf, readableSteps, readStep } from './scope.ts';
export { MAX_SEARCH_VALUE_LENGTH, MAX_SEARCHABLE_FIELDS, SEARCHABLE_NAME } from './searchable.ts';
export { seedOf } from './skips.ts';
export { isTerminal, type RunState, type StepCall, stepSpec } from './state.ts';
export {
  type AddedId,
  addedId,
  agentStepType,
  approvalId,
  callId,
  itemPrefix,
  templateStep,
  turnId,
  typeOfStep,
} from './step-ids.ts';
export { MAX_BYTES_PER_JSON_BYTE, resultSize, type StepResult, StoredValue, sizeOf } from './stored-value.ts';
export { MAX_WAIT_S } from './waits.ts';
export { MAX_TOOL_DESCRIPTION_LENGTH, WORKFLOW_TOOL_NAME } from './workflow-tool.ts';
