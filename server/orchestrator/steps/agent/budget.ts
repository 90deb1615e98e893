import { type AgentLimit, type AgentProgress, type StepError, usableBudget } from '../../core/index.ts';
import type { ActionPrices } from '../../ports/billable-actions.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { reserveTokens } from '../reserve-tokens.ts';

/** The minimum number of tokens of an answer for which a turn is made. */
const MIN_OUTPUT_TOKENS = 256;
/** The minimum number of tokens of a closing answer, which may be shorter. Providers accept no smaller limit. */
const MIN_CLOSING_TOKENS = 16;

/** The facts from which the cost of a turn is estimated. `input`: the estimated input tokens. */
export type TurnEstimate = {
  agent: Pick<AgentProgress, 'plan' | 'spent'>;
  prices: ActionPrices | undefined;
  input: number;
  closing: AgentLimit | null;
};

/** A turn that fits the budget of its agent. `output`: the maximum number of tokens of its answer. Null: the budget does not cover the turn. */
export type FittedTurn = { closing: AgentLimit | null; output: number } | null;

/**
 * Fits a turn into the rest of the budget by shortening its answer. If the answer would be too short, the turn becomes the closing turn, which
 * may also use the reserved part of the budget. An agent with `on_limit: fail` has no closing turn.
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

/** `not_made`: the budget of the agent does not cover the turn. `refused`: the limits of the run or the workspace do not. */
export type ReservedTurn =
  | { kind: 'reserved'; closing: AgentLimit | null; output: number }
  | { kind: 'not_made' }
  | { kind: 'refused'; error: StepError };

/**
 * Fits a turn into the budget of its agent, and reserves its cost from the credits of the run. If these leave too little for an ordinary
 * answer, the turn becomes the closing turn.
 */
export async function reserveTurn(
  attempt: Attempt,
  { agent, input, closing: begun, window, most }: Omit<TurnEstimate, 'prices'> & { window: number; most: number },
): Promise<ReservedTurn> {
  const fitted = fitTurn({ agent, prices: attempt.prices, input, closing: begun });
  if (fitted === null) return { kind: 'not_made' };
  const wanted = Math.min(fitted.output, most);
  const reserved = await reserveTokens(attempt, { input, window, least: MIN_CLOSING_TOKENS, most: wanted });
  if (reserved.kind === 'refused') return reserved;
  const { output } = reserved;
  const isShort = output < wanted && output < MIN_OUTPUT_TOKENS && agent.plan.on_limit !== 'fail';
  const closing = fitted.closing ?? (isShort ? 'budget' : null);
  return { kind: 'reserved', closing, output: output < wanted ? output : fitted.output };
}

function affordable(left: number, prices: ActionPrices, input: number): number {
  const rest = left - prices.workflow_step - input * prices.llm_input_tokens;
  if (rest < 0) return 0;
  return prices.llm_output_tokens === 0 ? Number.POSITIVE_INFINITY : Math.floor(rest / prices.llm_output_tokens);
}
