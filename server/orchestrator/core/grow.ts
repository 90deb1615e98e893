import { growAgent } from './agent-growth.ts';
import { cascade, type Draft, newDraft, skipIfDue } from './draft.ts';
import { endAdded, stepFails } from './ending.ts';
import type { AddedStep, ExpansionPlan, RunEvent, StepError } from './events.ts';
import {
  type Expansion,
  inAll,
  inMemoryAtOnce,
  isAgent,
  type LoopExpansion,
  MAX_ADDED,
  MAX_ADDED_IN_MEMORY,
  MAX_DEPTH,
} from './growth.ts';
import { effectiveStep, isTerminal, type RunState, stepState } from './state.ts';
import { addedId, depthOf, itemPrefix } from './step-ids.ts';

/** The number of ids that fit into an event without becoming a large value, so that added steps are known without loading one. */
const STEPS_PER_EVENT = 40;

/**
 * Returns the events that follow from the expanded steps: adds an item, ends the steps that remain after a failure, or
 * fails a step because of the steps under it. Call it after each decision has been folded, repeatedly until it returns
 * nothing; its events belong to that decision. A paused or stopping run adds nothing.
 */
export function grow(state: RunState, now: number): RunEvent[] {
  const { grown } = state;
  if (grown === null || isTerminal(state.status) || state.stopRequested !== null) return [];
  if (grown.skippable.size > 0) {
    const draft = newDraft(state, now);
    cascade(
      draft,
      [...grown.skippable].filter(step => skipIfDue(draft, step)),
    );
    return draft.events;
  }
  for (const parent of grown.due) {
    const expansion = grown.parents.get(parent);
    const events = expansion === undefined ? [] : next(state, parent, expansion, now);
    if (events.length > 0) return events;
  }
  return [];
}

function next(state: RunState, parent: string, expansion: Expansion, now: number): RunEvent[] {
  const draft = newDraft(state, now);
  if (isAgent(expansion)) {
    growAgent(draft, parent, expansion);
    return draft.events;
  }
  const [failing] = expansion.failing;
  if (expansion.failure !== null) failParent(draft, parent, expansion.failure);
  else if (failing !== undefined) {
    const causedBy = expansion.open.get(failing)?.failedBy ?? parent;
    endAdded(draft, parent, { cancel: 'step_failed', causedBy, skip: 'blocked' }, failing);
  } else if (state.status === 'running') addItems(draft, parent, expansion);
  return draft.events;
}

function failParent(draft: Draft, parent: string, { step, error }: { step: string; error: StepError }): void {
  const { index = 0, name = step } = addedId(step) ?? {};
  endAdded(draft, parent, { cancel: 'step_failed', causedBy: step, skip: 'blocked' });
  const message = `Item ${index} failed in "${name}": ${error.message}`;
  stepFails(draft, parent, { code: error.code, message }, {}, step);
}

function addItems(draft: Draft, parent: string, { plan, graph, count, next: first, open }: LoopExpansion): void {
  const added: AddedStep[] = [];
  const end = Math.min(count, first + plan.concurrency - open.size);
  for (let index = first; index < end; index++) {
    const prefix = itemPrefix(parent, index);
    for (const [name, { spec }] of graph.steps) added.push({ id: `${prefix}${name}`, type: spec.type });
  }
  const { attempt } = stepState(draft.state, parent);
  for (let at = 0; at < added.length; at += STEPS_PER_EVENT) {
    const data = { parent, steps: added.slice(at, at + STEPS_PER_EVENT) };
    draft.events.push({ at: draft.now, type: 'steps_added', step: parent, attempt, data });
  }
}

/** Returns the error of a step that may not expand as requested; null if it may. */
export function growthProblem(state: RunState, step: string, plan: ExpansionPlan): StepError | null {
  const { grown } = state;
  const size = effectiveStep(state, step).inner?.order.length ?? 0;
  const expanding = (what: string) => ({ code: 'too_many_steps', message: `The step would add steps ${what}.` });
  if (grown?.parents.has(step)) return { code: 'already_expanded', message: 'The step has expanded before.' };
  if (depthOf(step) >= MAX_DEPTH) {
    const message = `Steps may be added ${MAX_DEPTH} levels deep, and the step would add steps below that.`;
    return { code: 'nested_too_deep', message };
  }
  const planned = (grown?.planned ?? 0) + inAll(plan, size);
  if (planned > MAX_ADDED) return expanding(`beyond the limit of ${MAX_ADDED} for a run: ${planned} in all`);
  const inMemory = (grown?.reserved ?? 0) + inMemoryAtOnce(plan, size);
  if (inMemory > MAX_ADDED_IN_MEMORY)
    return expanding(`beyond the limit of ${MAX_ADDED_IN_MEMORY} at a time: ${inMemory}`);
  return null;
}
