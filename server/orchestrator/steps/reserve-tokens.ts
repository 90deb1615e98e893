import type { StepError } from '../core/index.ts';
import type { Attempt } from '../ports/step-type.ts';

/** Until a provider has counted, a conversation may have this many tokens, regardless of its number of characters. */
const UNCERTAIN_TOKENS = 32_768;

/**
 * `input`: the estimated tokens that a model is about to read. `window`: the model's maximum. `least`, `most`: the
 * tokens of its answer.
 */
export type TokensWanted = { input: number; window: number; least: number; most: number };
/** `output`: the maximum tokens of the answer. */
export type TokensReserved = { kind: 'reserved'; output: number } | { kind: 'refused'; error: StepError };

/**
 * Reserves the possible cost of a model request: the longest answer, and more input than expected, because only the
 * provider counts exactly. If fewer credits are left, the answer is limited to what remains after the expected input,
 * so that concurrent attempts never spend the same credits.
 */
export async function reserveTokens(
  attempt: Attempt,
  { input, window, least, most }: TokensWanted,
): Promise<TokensReserved> {
  const { prices, reserve } = attempt;
  if (prices === undefined || reserve === undefined) return { kind: 'reserved', output: most };
  const { workflow_step: step, llm_input_tokens: read, llm_output_tokens: written } = prices;
  const held = Math.max(input, Math.min(window, Math.max(2 * input, UNCERTAIN_TOKENS)));
  const wanted = { least: step + input * read + least * written, most: step + held * read + most * written };
  const reserved = await reserve({ ...wanted, least: Math.min(wanted.least, wanted.most) });
  if (reserved.kind === 'refused') return reserved;
  const rest = reserved.microcredits - step - input * read;
  const output = written === 0 ? most : Math.floor(rest / written);
  return { kind: 'reserved', output: Math.max(Math.min(least, most), Math.min(most, output)) };
}
