import { callingAgent } from './call-bounds.ts';
import type { RunEvent } from './events.ts';
import { hold } from './holding.ts';
import { move } from './moves.ts';
import { effectiveStep, type RunState, type StepState, stepState } from './state.ts';
import { BYTES_PER_ABANDONED_CALL, sizeOf } from './stored-value.ts';

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** Folds `child_called`: the step no longer holds an attempt, and waits for the run that it calls. */
export function called(state: RunState, { step: id, data, at }: Of<'child_called'>): void {
  const step = stepState(state, id);
  const { timeout_s } = effectiveStep(state, id).spec;
  const detach = data.detach === true;
  // The log of a quarantined run is read without large values.
  const input = data.input ?? {};
  step.call = {
    runId: data.run_id,
    workflowId: data.workflow_id,
    version: data.version,
    input,
    detach,
    deadline: timeout_s === undefined || detach ? null : at + timeout_s * 1000,
    ended: null,
    ...(data.outside_input !== undefined && { outsideInput: data.outside_input }),
    ...(data.private_input !== undefined && { privateInput: data.private_input }),
    ...(data.agent !== undefined && { agent: data.agent }),
    ...(data.budget !== undefined && { budget: data.budget }),
  };
  hold(state, sizeOf(input));
  move(state, id, step, 'calling');
}

/** Folds `child_ended`: if the run has completed, the step may begin for the last time, to return its output. */
export function ended(state: RunState, { step: id, data }: Of<'child_ended'>): void {
  const step = stepState(state, id);
  const { call } = step;
  if (call === undefined) throw new Error(`"${id}" of ${state.runId} has called no run.`);
  releaseInput(state, step);
  spend(state, id, data.spent ?? 0);
  step.call = { ...call, input: null, deadline: null, ended: data.status };
  if (data.status === 'completed') move(state, id, step, 'ready');
}

/** Removes the call of a step that continues or ends. If the called run has not ended, it is no longer needed. */
export function leaveCall(state: RunState, id: string, step: StepState): void {
  const { call } = step;
  // Kept, because the next attempt reads the output again.
  if (call === undefined || call.ended === 'completed') return;
  releaseInput(state, step);
  step.call = undefined;
  if (call.ended !== null) return;
  // The abandoned run may spend its whole budget, and its actual cost is never reported.
  spend(state, id, call.budget ?? 0);
  if (call.detach) return;
  state.abandoned ??= new Set();
  state.abandoned.add(call.runId);
  state.residentBytes += BYTES_PER_ABANDONED_CALL;
}

/** Charges the cost of called runs to the budget of the run, and of the agent that made the call. */
function spend(state: RunState, step: string, microcredits: number): void {
  state.childrenSpent += microcredits;
  const agent = callingAgent(state, step);
  if (agent !== null) agent.spent += microcredits;
}

function releaseInput(state: RunState, { call }: StepState): void {
  if (call?.input != null) hold(state, -sizeOf(call.input));
}
