import { type Command, type Consumption, INSUFFICIENT_CREDITS, isUnpaid } from '../core/index.ts';
import type { ActionPrices } from '../ports/billable-actions.ts';
import { cost, MAX_MICROCREDITS } from '../ports/microcredits.ts';

/**
 * The maximum amount that one attempt is charged for its usage, in microcredits: a million credits. Usage is reported by a
 * provider, who may be wrong; thousands of such attempts still fit into an account.
 */
export const MAX_PER_ATTEMPT = 1_000_000_000_000;

/** Called when an attempt reports more usage than can be charged. */
export type OnExcess = (step: string, reported: readonly Consumption[]) => void;

/**
 * Returns the command with the cost of the attempt that it ends, if it ends one: the step itself and its usage, at
 * `prices`. Never throws: usage that cannot be charged is cut, so that quantities and credits agree.
 */
export function priced(command: Command, prices: ActionPrices, onExcess: OnExcess): Command {
  switch (command.type) {
    case 'attempt_failed':
      if (isUnpaid(command.error.code)) return command;
      return withConsumption(command, prices, onExcess);
    case 'attempt_succeeded':
    case 'attempt_expanding':
    case 'attempt_calling':
      return withConsumption(command, prices, onExcess);
    case 'complete_task':
    case 'task_timed_out':
    case 'expansion_timed_out':
    case 'call_timed_out':
    case 'child_started':
    case 'wake':
      return { ...command, credits: prices.workflow_step };
    case 'child_ended':
      if (command.end.status !== 'completed' && command.end.error.code === INSUFFICIENT_CREDITS) return command;
      return { ...command, credits: prices.workflow_step };
    case 'start':
    case 'pause':
    case 'resume':
    case 'stop':
    case 'start_attempt':
    case 'attempt_waiting':
    case 'attempt_sleeping':
    case 'attempt_log':
    case 'abandon_attempt':
    case 'quarantine':
      return command;
  }
}

type Outcome = Extract<
  Command,
  { type: 'attempt_failed' | 'attempt_succeeded' | 'attempt_expanding' | 'attempt_calling' }
>;

function withConsumption(command: Outcome, prices: ActionPrices, onExcess: OnExcess): Command {
  const { consumed } = command;
  if (consumed === undefined)
    return prices.workflow_step === 0 ? command : { ...command, credits: prices.workflow_step };
  const charged = chargeable(consumed, prices);
  if (charged !== consumed) onExcess(command.step, consumed);
  return { ...command, consumed: charged, credits: creditsFor(charged, prices) };
}

/** Returns the cost of an attempt with this usage. */
export function creditsFor(consumed: readonly Consumption[], prices: ActionPrices): number {
  return consumed.reduce((sum, { action, quantity }) => sum + cost(quantity, prices[action]), prices.workflow_step);
}

/** Returns `consumed` itself if all of it can be charged; otherwise as much of it as can, in order. */
function chargeable(consumed: Consumption[], prices: ActionPrices): Consumption[] {
  let left = Math.min(MAX_PER_ATTEMPT, MAX_MICROCREDITS - prices.workflow_step);
  const fits = consumed.every(({ action, quantity }) => {
    left -= quantity * prices[action];
    return left >= 0;
  });
  if (fits) return consumed;
  let rest = Math.min(MAX_PER_ATTEMPT, MAX_MICROCREDITS - prices.workflow_step);
  return consumed.flatMap(({ action, quantity }) => {
    const price = prices[action];
    const most = price === 0 ? quantity : Math.min(quantity, Math.floor(rest / price));
    rest -= most * price;
    return most > 0 ? [{ action, quantity: most }] : [];
  });
}
