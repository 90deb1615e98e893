import type { BillableAction } from '../../orchestrator/ports/billable-actions.ts';

/**
 * The name of each action's quantity in the time series, and the column of analytics_totals with its microcredits. The
 * quantity is also in a column with that name, except for steps, whose attempts are counted by outcome.
 */
export const ACTION_COLUMNS = {
  workflow_step: { quantity: 'steps', microcredits: 'step_microcredits' },
  tool_call: { quantity: 'tool_calls', microcredits: 'tool_call_microcredits' },
  llm_input_tokens: { quantity: 'llm_input_tokens', microcredits: 'llm_input_microcredits' },
  llm_output_tokens: { quantity: 'llm_output_tokens', microcredits: 'llm_output_microcredits' },
} as const satisfies Record<BillableAction, { quantity: string; microcredits: string }>;

/** The name of an action's quantity in the time series. */
export type QuantityName = (typeof ACTION_COLUMNS)[BillableAction]['quantity'];

/** Returns a value for each action's quantity, in the order of the actions. */
export const perQuantity = <T>(make: (action: BillableAction) => T): Record<QuantityName, T> =>
  Object.fromEntries(
    Object.entries(ACTION_COLUMNS).map(([action, { quantity }]) => [quantity, make(action as BillableAction)]),
  ) as Record<QuantityName, T>;
