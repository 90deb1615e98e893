import type { ActionPrices } from '../../contract/billable-actions.ts';
import { type AgentLimit, type AgentProgress, usableBudget } from '../core/index.ts';

/** A turn is not made if its answer could have fewer tokens than this. */
const MIN_OUTPUT_TOKENS = 256;
/** A closing answer may be shorter: it is the last. Providers take no less. */
const MIN_CLOSING_TOKENS = 16;

/** The cost of a turn in advance. `input`: the estimated number of tokens that its model is about to read. */
export type TurnEstimate = {
  agent: Pick<AgentProgress, 'plan' | 'spent'>;
  prices: ActionPrices | undefined;
  input: number;
  closing: AgentLimit | null;
};

/** A turn that fits the budget of its agent. `output`: the tokens that its answer may have. `null`: the turn cannot be paid. */
export type FittedTurn = { closing: AgentLimit | null; output: number } | null;

/**
 * Fits a turn into what is left of the budget: first with a shorter answer; where that would be too short, as the closing turn, which
 * also has the part that is kept for it. An agent that fails at its limits has none.
 */
export function fitTurn({ agent, prices, input, closing }: TurnEstimate): FittedTurn {
  const { plan, spent } = agent;
  if (plan.budget === undefined || prices === undefined) return { closing, output: Number.POSITIVE_INFINITY };
  const output = (budget: number) => affordable(budget - spent, prices, input);
  const usual = closing === null ? output(usableBudget(plan)) : 0;
  if (usual >= MIN_OUTPUT_TOKENS) return { closing: null, output: usual };
  const last = closing === null && plan.on_limit === 'fail' ? 0 : output(plan.budget);
  return last >= MIN_CLOSING_TOKENS ? { closing: closing ?? 'budget', output: last } : null;
}

function affordable(left: number, prices: ActionPrices, input: number): number {
  const rest = left - prices.workflow_step - input * prices.llm_input_tokens;
  if (rest < 0) return 0;
  return prices.llm_output_tokens === 0 ? Number.POSITIVE_INFINITY : Math.floor(rest / prices.llm_output_tokens);
}
