import { isDeepStrictEqual } from 'node:util';
import type { RunEvent } from '../../core/index.ts';
import { agentResult, expectedNext, isExpandedAgent, type NextOfAgent, planOf } from '../agents.ts';
import type { History } from '../history.ts';
import { agentDeadline } from './growth.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('agents', message);

/**
 * Checks that the steps that an agent adds to its run, and the starts of its calls, follow only from its log and its
 * limits (docs/adr/0021).
 */
export function checkAgents(history: History, event: RunEvent): void {
  if (event.type === 'steps_added' && isExpandedAgent(history.step(event.step))) checkAdded(history, event);
  if (event.type === 'step_started') checkApproved(history, event.step);
  if (event.type === 'step_completed') checkNotApproved(history, event);
  if (event.type === 'step_completed' && isExpandedAgent(history.step(event.step))) checkEnd(history, event);
  if (event.type === 'step_cancelled' && event.data.reason === 'limit_reached') checkLimit(history, event);
}

function checkAdded(history: History, { step, data, at }: Extract<RunEvent, { type: 'steps_added' }>): void {
  if (history.status !== 'running' || history.stopping) throw fail(`"${step}" adds steps to a run that does not go on`);
  if (data.parent !== step) throw fail(`"${step}" adds steps under "${data.parent}"`);
  const ids = data.steps.map(({ id }) => id);
  const [first] = data.steps;
  const next = expectedNext(history, step);
  // A refused turn is repeated.
  const isRepeated = next.is === 'turn' && next.closing === 'timeout';
  if (first?.fields?.closing === 'timeout' && !isRepeated) {
    if (planOf(history, step).on_limit !== 'answer') throw fail(`"${step}" answers at its limit, but is to fail`);
    const deadline = agentDeadline(history, step);
    if (deadline === null || at < deadline) throw fail(`the time of "${step}" was not up`);
    return;
  }
  const expected = stepsOf(history, step, next);
  if (
    !isDeepStrictEqual(
      ids,
      expected.map(({ id }) => id),
    )
  )
    throw fail(`"${step}" adds [${ids}], and should add [${expected.map(({ id }) => id)}]`);
  for (const [index, { closing, approval, grant }] of expected.entries()) {
    const added = data.steps[index];
    if ((added?.fields?.closing ?? null) !== closing)
      throw fail(`"${added?.id}" closes for ${added?.fields?.closing}, not ${closing}`);
    if (approval !== null && !added?.depends_on?.includes(approval))
      throw fail(`"${added?.id}" does not wait for its approval`);
    if (added?.fields?.grant !== grant)
      throw fail(`"${added?.id}" has the grant ${added?.fields?.grant}, not ${grant}`);
  }
}

type Expected = { id: string; closing: string | null; approval: string | null; grant?: string | undefined };

function stepsOf(history: History, agent: string, next: NextOfAgent): Expected[] {
  const turns = history.step(agent).children.filter(id => history.step(id).spec.type === 'agent_turn');
  if (next.is === 'turn') return [{ id: `${agent}.${turns.length + 1}`, closing: next.closing, approval: null }];
  if (next.is === 'compact') {
    const made = history.step(agent).children.filter(id => history.step(id).spec.type === 'agent_compaction');
    return [{ id: `${agent}.c${made.length + 1}`, closing: null, approval: null }];
  }
  const last = turns.at(-1);
  if (next.is !== 'calls' || last === undefined) return [];
  const end = history.step(last).end;
  const calls = (end?.type === 'step_completed' && 'result' in end.data && end.data.turn?.calls) || [];
  return next.numbers.flatMap(number => {
    const id = `${last}.${number}`;
    const { policy, grant } = calls[number - 1] ?? {};
    if (policy !== 'ask') return [{ id, closing: null, approval: null, grant }];
    return [
      { id: `${id}.ok`, closing: null, approval: null },
      { id, closing: null, approval: `${id}.ok` },
    ];
  });
}

/** Checks that a call that needs an approval begins only after a person has approved it. */
function checkApproved(history: History, id: string): void {
  if (history.step(id).spec.type !== 'agent_tool') return;
  const approval = history.steps.get(`${id}.ok`);
  if (approval !== undefined && approval.answer?.approved !== true) throw fail(`"${id}" began without its approval`);
}

function checkNotApproved(history: History, { step, data }: Extract<RunEvent, { type: 'step_completed' }>): void {
  if (!('skipped' in data) || data.reason !== 'not_approved') return;
  const approval = history.steps.get(`${step}.ok`);
  if (approval === undefined || approval.end === null || approval.answer?.approved === true)
    throw fail(`"${step}" was skipped as not approved`);
}

function checkEnd(history: History, { step, data }: Extract<RunEvent, { type: 'step_completed' }>): void {
  const next = expectedNext(history, step);
  if (next.is !== 'end') throw fail(`"${step}" ends, and should go on: ${next.is}`);
  const expected = agentResult(history, step);
  if ('result' in data && !isDeepStrictEqual(data.result, expected))
    throw fail(`"${step}" returns ${JSON.stringify(data.result)}, not ${JSON.stringify(expected)}`);
}

/**
 * Checks a cancelled step of an agent whose time was up: its closing turn has replaced the active steps, or did not end
 * within the time reserved for it.
 */
function checkLimit(history: History, { step, data, at }: Extract<RunEvent, { type: 'step_cancelled' }>): void {
  const agent = data.caused_by_step_id ?? '';
  const { timeout_s = Number.POSITIVE_INFINITY, closing_s } = planOf(history, agent);
  const isOver = closing_s !== undefined && at >= (history.step(agent).expanded?.at ?? 0) + timeout_s * 1_000;
  const closing = history
    .step(agent)
    .children.some(id => history.step(id).spec.closing === 'timeout' || (isOver && history.step(id).spec.closing));
  if (!closing || !step.startsWith(`${agent}.`)) throw fail(`"${step}" was cancelled by a limit of "${agent}"`);
}

/** Checks after each decision that each agent of a run that continues has an active step or its answer. */
export function checkAgentsGoOn(history: History): void {
  if (history.isTerminal || history.stopping) return;
  for (const [id, step] of history.steps) {
    if (step.end !== null || !isExpandedAgent(step)) continue;
    const isOpen = (child: string) =>
      history.step(child).end === null &&
      history.step(child).spec.closing === undefined &&
      // Added for a closing turn that was refused.
      history.step(child).spec.overflow === undefined;
    const isClosing = step.children.some(child => history.step(child).spec.closing !== undefined);
    if (isClosing && step.children.some(isOpen)) throw fail(`"${id}" closes, and goes on with what it was doing`);
    const next = expectedNext(history, id);
    if (next.is === 'failed' || (history.status === 'running' && next.is !== 'wait' && next.is !== 'end'))
      throw fail(`"${id}" does not go on: ${JSON.stringify(next)}`);
  }
}
