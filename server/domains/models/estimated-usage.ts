import { TOKENS_PER_CHARACTER } from '../../orchestrator/steps/agent/conversation.ts';
import type { TokenUsage } from '../../orchestrator/steps/llm-call/model-caller.ts';

/**
 * Estimates the tokens of a provider that told none, by the characters that were sent and written: what is not counted would be free,
 * and no limit would hold.
 */
export function estimatedUsage(sent: number, written: number): TokenUsage & { estimated: true } {
  const tokens = (characters: number) => Math.ceil(characters * TOKENS_PER_CHARACTER);
  return { inputTokens: tokens(sent), outputTokens: tokens(written), estimated: true };
}
