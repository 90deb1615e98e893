import { addAgentSteps, afterAgentStep, closeAgent, expandAgent } from './agent-expansion.ts';
import type { CompiledGraph, CompiledStep } from './compile.ts';
import type { RunEvent, StepError } from './events.ts';
import { instanceOf } from './graph.ts';
import {
  type Expansion,
  type Growth,
  type Item,
  inMemoryAtOnce,
  isAgent,
  type LoopExpansion,
  newGrowth,
} from './growth.ts';
import { forget, forgetResult, hold } from './holding.ts';
import { judge, move } from './moves.ts';
import { effectiveStep, isAdded, newStep, type RunState, stepState } from './state.ts';
import { addedId, itemPrefix } from './step-ids.ts';
import { BYTES_PER_ADDED_STEP, BYTES_PER_ITEM, sizeOf } from './stored-value.ts';

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** Folds `step_expanded`: the step no longer holds an attempt, and waits for the steps that it adds. */
export function expand(state: RunState, { step: id, data, at }: Of<'step_expanded'>): void {
  state.grown ??= newGrowth();
  const { grown } = state;
  const { plan } = data;
  if (plan.type === 'agent') {
    expandAgent(state, grown, id, { plan, settings: data.agent ?? {}, at });
    return;
  }
  const { spec, inner } = effectiveStep(state, id);
  const graph = inner ?? NO_GRAPH;
  // The log of a quarantined run is read without large values.
  const items = data.items ?? [];
  const expansion: LoopExpansion = {
    plan,
    items,
    graph,
    last: [...graph.steps.keys()].filter(name => graph.steps.get(name)?.dependents.length === 0),
    count: graph.order.length === 0 ? 0 : plan.count,
    deadline: spec.timeout_s === undefined ? null : at + spec.timeout_s * 1000,
    next: 0,
    open: new Map(),
    failing: new Set(),
    ends: [],
    failed: 0,
    failure: null,
  };
  grown.parents.set(id, expansion);
  grown.planned += expansion.count * graph.order.length;
  grown.reserved += inMemoryAtOnce(plan, graph.order.length);
  hold(state, sizeOf(items));
  move(state, id, stepState(state, id), 'expanded');
  refresh(state, grown, id, expansion);
}

const NO_GRAPH: CompiledGraph = {
  steps: new Map(),
  order: [],
  searchable: null,
  ancestors: () => new Set(),
};

/** Folds `steps_added`. Added steps without dependencies are ready, or are to be skipped. */
export function addSteps(state: RunState, { step: parent, data }: Of<'steps_added'>): void {
  const { grown } = state;
  const expansion = grown?.parents.get(parent);
  if (grown == null || expansion === undefined) throw new Error(`"${parent}" of ${state.runId} has not expanded.`);
  if (isAgent(expansion)) {
    addAgentSteps(state, grown, { id: parent, expansion }, data.steps);
    return;
  }
  for (const { id } of data.steps) {
    const { index, name } = addedId(id) ?? { index: 0, name: id };
    const template = expansion.graph.steps.get(name);
    if (template === undefined) throw new Error(`"${parent}" has no step "${name}".`);
    const step = newStep(template.dependencies.length);
    grown.steps.set(id, addedStep(template, itemPrefix(parent, index)));
    grown.added += 1;
    state.steps.set(id, step);
    state.residentBytes += BYTES_PER_ADDED_STEP;
    const item: Item = expansion.open.get(index) ?? { open: 0, failedBy: null };
    item.open += 1;
    expansion.open.set(index, item);
    expansion.next = Math.max(expansion.next, index + 1);
    if (step.open > 0) continue;
    judge(state, id, step);
    if (state.steps.get(id)?.status === 'pending') grown.skippable.add(id);
  }
  refresh(state, grown, parent, expansion);
}

/** Returns the step of a graph as an instance for an item. Instances share everything but their ids. */
function addedStep(template: CompiledStep, prefix: string): CompiledStep {
  const prefixed = (id: string) => `${prefix}${id}`;
  const dependencies = template.dependencies.map(prefixed);
  const { branches } = template;
  return {
    ...template,
    spec: instanceOf(template.spec, { id: prefixed(template.spec.id), depends_on: dependencies }),
    dependencies,
    dependents: template.dependents.map(prefixed),
    branches: branches && {
      then: new Set([...branches.then].map(prefixed)),
      else: new Set([...branches.else].map(prefixed)),
    },
  };
}

/** Call this after the end of a step was folded, in a run in which a step has expanded. */
export function afterEnd(state: RunState, grown: Growth, id: string, failure: StepError | null): void {
  const own = grown.parents.get(id);
  if (own !== undefined) closeExpansion(state, grown, id, own);
  const added = isAdded(state, id) ? addedId(id) : null;
  if (added === null) return;
  grown.ended += 1;
  grown.skippable.delete(id);
  const { parent, index } = added;
  const expansion = grown.parents.get(parent);
  if (expansion !== undefined && isAgent(expansion)) {
    afterAgentStep(state, grown, { id: parent, expansion }, { step: id, failure });
    return;
  }
  const item = expansion?.open.get(index);
  if (expansion === undefined || item === undefined) throw new Error(`"${id}" of ${state.runId} belongs to no item.`);
  item.open -= 1;
  if (failure !== null && item.failedBy === null) {
    item.failedBy = id;
    expansion.failing.add(index);
    if (expansion.plan.on_item_error === 'fail') expansion.failure ??= { step: id, error: failure };
  }
  if (item.open === 0) endItem(state, grown, { parent, index, expansion, item });
  refresh(state, grown, parent, expansion);
}

type EndedItem = { parent: string; index: number; expansion: LoopExpansion; item: Item };

/** Keeps the results of an item's last steps, and drops its steps from memory. */
function endItem(state: RunState, grown: Growth, { parent, index, expansion, item }: EndedItem): void {
  const prefix = itemPrefix(parent, index);
  const hasFailed = item.failedBy !== null;
  expansion.ends[index] = hasFailed ? null : expansion.last.map(name => state.results.get(`${prefix}${name}`) ?? null);
  if (hasFailed) expansion.failed += 1;
  for (const name of expansion.graph.order) {
    const id = `${prefix}${name}`;
    if (hasFailed || !expansion.last.includes(name)) forgetResult(state, id);
    const { answered, error } = stepState(state, id);
    if (answered) grown.answered.add(id);
    if (error !== undefined) state.residentBytes -= sizeOf(error);
    state.results.delete(id);
    state.steps.delete(id);
    grown.steps.delete(id);
    state.residentBytes -= BYTES_PER_ADDED_STEP;
  }
  expansion.open.delete(index);
  expansion.failing.delete(index);
  state.residentBytes += BYTES_PER_ITEM;
}

function closeExpansion(state: RunState, grown: Growth, id: string, expansion: Expansion): void {
  if (isAgent(expansion)) closeAgent(state, grown, id, expansion);
  else close(state, grown, id, expansion);
}

/** Drops everything that a step has added, once the step itself has ended. */
function close(state: RunState, grown: Growth, id: string, expansion: LoopExpansion): void {
  const { plan, graph, count, next, items, ends } = expansion;
  grown.parents.delete(id);
  grown.due.delete(id);
  grown.planned -= (count - next) * graph.order.length;
  grown.reserved -= inMemoryAtOnce(plan, graph.order.length);
  hold(state, -sizeOf(items));
  for (const end of ends) {
    if (end === undefined) continue;
    state.residentBytes -= BYTES_PER_ITEM;
    for (const result of end ?? []) forget(state, result);
  }
}

/** Updates whether the loop needs a decision. Once all added steps have ended, the loop may begin for the last time. */
function refresh(state: RunState, grown: Growth, id: string, expansion: LoopExpansion): void {
  const { plan, count, next, open, failing, failure } = expansion;
  const canAdd = next < count && open.size < plan.concurrency;
  if (failure !== null || failing.size > 0 || canAdd) {
    grown.due.add(id);
    return;
  }
  grown.due.delete(id);
  const step = stepState(state, id);
  if (next >= count && open.size === 0 && step.status === 'expanded') move(state, id, step, 'ready');
}
