import { isDeepStrictEqual } from 'node:util';
import { readJson } from '../../../platform/json-text.ts';
import type { JsonValue, LoopPlan, RunEvent } from '../../core/index.ts';
import { expectedNext, isExpandedAgent, planOf } from '../agents.ts';
import { failsItem, gatheredResult } from '../growth.ts';
import { type History, type StepHistory, stepsOf } from '../history.ts';
import { effectiveFields } from '../oracle.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('growth', message);

/** Checks that the steps that a run adds, and the ends of these steps, follow only from its loops (docs/adr/0017). */
export function checkGrowth(history: History, event: RunEvent): void {
  if (event.type === 'steps_added' && loopPlanOf(history.step(event.step)) !== null) checkAdded(history, event);
  if (event.type === 'step_expanded') checkExpanded(history, event);
  if (event.type === 'step_completed' || event.type === 'step_failed' || event.type === 'step_cancelled') {
    const step = history.step(event.step);
    for (const child of step.children)
      if (history.step(child).end === null) throw fail(`"${event.step}" has ended, and "${child}" under it has not`);
    if (event.type === 'step_completed' && loopPlanOf(step) !== null) checkResult(history, event);
    if (event.type === 'step_failed') checkFailure(history, event);
    if (event.type === 'step_cancelled' && event.data.reason === 'step_failed') checkCancelled(history, event);
  }
}

function checkExpanded(history: History, { step, data }: Extract<RunEvent, { type: 'step_expanded' }>): void {
  if (history.stopping) throw fail(`"${step}" expanded while the run was being stopped`);
  if (history.step(step).expanded !== null) throw fail(`"${step}" expanded twice`);
  const count = data.plan.type === 'agent' ? 0 : data.plan.count;
  if (data.items.length !== count) throw fail(`"${step}" has ${data.items.length} of ${count} items`);
}

function checkAdded(history: History, { step, data }: Extract<RunEvent, { type: 'steps_added' }>): void {
  const parent = history.step(step);
  if (history.status !== 'running' || history.stopping) throw fail(`"${step}" adds steps to a run that does not go on`);
  if (parent.expanded === null || data.parent !== step) throw fail(`"${step}" adds steps, but has not expanded`);
  const count = loopPlanOf(parent)?.count ?? 0;
  let last = Math.max(0, ...parent.children.map(id => indexOf(step, id)));
  for (const { id, type } of data.steps) {
    const index = indexOf(step, id);
    if (history.steps.has(id)) throw fail(`"${id}" was added twice`);
    if (!(index < count)) throw fail(`"${id}" was added for an item that "${step}" does not have`);
    if (index < last || index > last + 1) throw fail(`"${id}" was added after item ${last}`);
    if (type !== stepsOf(parent.spec).find(each => id.endsWith(`.${each.id}`))?.type)
      throw fail(`"${id}" is a ${type}`);
    last = index;
  }
}

/** Checks a failed step in a loop: the loop handles the failure, and fails only if `on_item_error` says so. */
function checkFailure(history: History, { step, data }: Extract<RunEvent, { type: 'step_failed' }>): void {
  const { added } = history.step(step);
  const own = history.step(step);
  if ((data.tolerated === true) !== (added !== null && !data.continues))
    throw fail(`the failure of "${step}" says tolerated: ${data.tolerated}`);
  if (data.caused_by_step_id === undefined) return;
  const cause = history.step(data.caused_by_step_id);
  if (isExpandedAgent(own)) {
    checkAgentFailure(history, step, cause);
    return;
  }
  if (loopPlanOf(own)?.on_item_error !== 'fail') throw fail(`"${step}" fails for an item, but is to continue`);
  if (cause.added?.parent !== step || cause.end?.type !== 'step_failed')
    throw fail(`"${step}" fails because of "${data.caused_by_step_id}", which has not failed`);
}

/** Checks that a step in a loop is cancelled only if another step of that loop failed, or the loop timed out. */
function checkCancelled(history: History, { step, data, at }: Extract<RunEvent, { type: 'step_cancelled' }>): void {
  const cause = history.step(data.caused_by_step_id ?? '');
  const loop = cause.end?.type === 'step_failed' ? cause.added?.parent : cause.spec.id;
  if (loop === undefined || !step.startsWith(`${loop}.`)) throw fail(`"${step}" was cancelled by "${cause.spec.id}"`);
  if (cause.end?.type === 'step_failed') {
    const plan = loopPlanOf(history.step(loop));
    if (plan?.on_item_error === 'continue' && !step.startsWith(`${loop}.${cause.added?.index}.`))
      throw fail(`"${step}" was cancelled because another item failed`);
    return;
  }
  if (at < (deadlineOf(history, loop) ?? Number.POSITIVE_INFINITY)) throw fail(`the time of "${loop}" was not up`);
}

/**
 * Checks that the result contains the results of all items in the order of the list, regardless of the order in which the items ended.
 */
function checkResult(history: History, { step, data }: Extract<RunEvent, { type: 'step_completed' }>): void {
  if ('skipped' in data) throw fail(`"${step}" was skipped after it had expanded`);
  if (openItems(history, step).next < (loopPlanOf(history.step(step))?.count ?? 0))
    throw fail(`"${step}" ends before its last item`);
  const expected = gatheredResult(history, step);
  if (!isDeepStrictEqual(plain(data.result as JsonValue), plain(expected)))
    throw fail(`"${step}" returns ${JSON.stringify(data.result)}, not ${JSON.stringify(expected)}`);
}

const plain = (value: JsonValue): unknown => readJson(JSON.stringify(value));

/**
 * Checks after each decision that a loop of a run that continues has as many items in progress as it may, and has
 * handled every failure.
 */
export function checkLoops(history: History): void {
  for (const [id, { end }] of history.steps)
    if (end?.type === 'step_completed' && 'skipped' in end.data && end.data.reason === 'blocked')
      checkBlocked(history, id);
  if (history.isTerminal || history.stopping) return;
  for (const [id, step] of history.steps) {
    const plan = loopPlanOf(step);
    if (step.end !== null || plan === null) continue;
    const { count, concurrency, on_item_error } = plan;
    const { open, next, failed } = openItems(history, id);
    if (open.size > concurrency) throw fail(`"${id}" has ${open.size} items at work, and may have ${concurrency}`);
    for (const index of failed) {
      if (on_item_error === 'fail') throw fail(`item ${index} of "${id}" failed, and the loop goes on`);
      if (open.has(index)) throw fail(`item ${index} of "${id}" failed, and goes on`);
    }
    if (history.status === 'running' && next < count && open.size < concurrency)
      throw fail(`"${id}" has ${open.size} items at work and ${count - next} to come`);
  }
}

/** Checks that a step of a loop is blocked only by a failure in that loop, or in a loop that contains it. */
function checkBlocked(history: History, id: string): void {
  const { added } = history.step(id);
  if (added === null || history.status === 'failed') return;
  const { children, end } = history.step(added.parent);
  if (children.some(child => failsItem(history.step(child))) || end?.type === 'step_failed') return;
  if (children.some(child => history.step(child).spec.closing === 'timeout')) return;
  if (isBlocked(history, added.parent) || isTimeUp(history, added.parent)) return;
  throw fail(`"${id}" is blocked, but no step of its loop has failed`);
}

/** Whether the time of an agent is up. A run that was paused for longer no longer begins the closing turn. */
function isTimeUp(history: History, id: string): boolean {
  const step = history.step(id);
  const { timeout_s } = isExpandedAgent(step) ? planOf(history, id) : {};
  const now = history.events.at(-1)?.at ?? 0;
  return timeout_s !== undefined && now >= (step.expanded?.at ?? 0) + timeout_s * 1_000;
}

/** Whether a step was ended by a failure elsewhere. */
function isBlocked(history: History, id: string): boolean {
  const { end } = history.step(id);
  return end?.type === 'step_cancelled';
}

type Items = { open: Set<number>; failed: Set<number>; next: number };

function openItems(history: History, id: string): Items {
  const items: Items = { open: new Set(), failed: new Set(), next: 0 };
  for (const child of history.step(id).children) {
    const { end } = history.step(child);
    const index = indexOf(id, child);
    items.next = Math.max(items.next, index + 1);
    if (end === null) items.open.add(index);
    if (end?.type === 'step_failed' && !end.data.continues) items.failed.add(index);
  }
  return items;
}

/** Whether all steps that a step added have ended, so that it may start for the last time. */
export function isGathered(history: History, id: string): boolean {
  const step = history.step(id);
  if (step.end !== null || step.inFlight || step.retryAt !== null) return false;
  return step.expanded !== null && !isAtWork(history, step);
}

/** Returns when a step that has expanded times out; null if it does not, or if no step is left under it. */
export function deadlineOf(history: History, id: string): number | null {
  const step = history.step(id);
  if (isExpandedAgent(step)) return agentDeadline(history, id);
  if (step.expanded === null || !isAtWork(history, step)) return null;
  const timeout: unknown = effectiveFields(history, step.spec).timeout_s;
  if (typeof timeout !== 'number' || !(timeout >= 1)) return null;
  return step.expanded.at + Math.min(timeout, 86_400) * 1_000;
}

function isAtWork(history: History, step: StepHistory): boolean {
  if (isExpandedAgent(step)) return step.children.length === 0 || expectedNext(history, step.spec.id).is !== 'end';
  const { open, next } = openItems(history, step.spec.id);
  return open.size > 0 || next < (loopPlanOf(step)?.count ?? 0);
}

/** Returns when the time of an agent is up; null if it has no limit, has its answer, or has begun its closing turn. */
export function agentDeadline(history: History, id: string): number | null {
  const step = history.step(id);
  const { timeout_s, closing_s } = planOf(history, id);
  const isClosing = step.children.some(child => history.step(child).spec.closing !== undefined);
  if (timeout_s === undefined || step.end !== null || !isAtWork(history, step)) return null;
  // Older plans reserve no time for the closing turn, so its end has no deadline.
  if (isClosing && closing_s === undefined) return null;
  return (step.expanded?.at ?? 0) + (isClosing ? timeout_s : timeout_s - (closing_s ?? 0)) * 1_000;
}

/** Checks that a turn failed, or that the agent reached a limit at which it has to fail. */
function checkAgentFailure(history: History, id: string, cause: StepHistory): void {
  const next = expectedNext(history, id);
  const isCause = cause.added?.parent === id;
  if (!isCause || (next.is !== 'limit' && next.is !== 'failed'))
    throw fail(`"${id}" fails because of "${cause.spec.id}", and should not: ${next.is}`);
}

function loopPlanOf({ expanded }: StepHistory): LoopPlan | null {
  const plan = expanded?.data.plan;
  return plan?.type === 'for_each' ? plan : null;
}

const indexOf = (parent: string, id: string): number => Number(id.slice(parent.length + 1).split('.')[0]);
