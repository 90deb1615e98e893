import { type AgentLimit, type AgentProgress, type StepError, usableBudget } from '../../core/index.ts';
import type { ActionPrices } from '../../ports/billable-actions.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { reserveTokens } from '../reserve-tokens.ts';

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

/** A turn that may be made, one that the budget of its agent does not cover, or one that the run may not pay. */
export type ReservedTurn =
  | { kind: 'reserved'; closing: AgentLimit | null; output: number }
  | { kind: 'not_made' }
  | { kind: 'refused'; error: StepError };

/**
 * Fits a turn into the budget of its agent, and reserves what it may cost of what limits the run. Where that leaves too little for
 * a usual answer, the turn becomes the closing one.
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
