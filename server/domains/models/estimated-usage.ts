import { TOKENS_PER_CHARACTER } from '../../orchestrator/steps/agent/conversation.ts';
import type { TokenUsage } from '../../orchestrator/steps/llm-call/model-caller.ts';

/**
 * Estimates the tokens of a provider that reported none, from the characters that were sent and received. Without an
 * estimate, the call would be free and no limit would apply.
 */
export function estimatedUsage(sent: number, written: number): TokenUsage & { estimated: true } {
  const tokens = (characters: number) => Math.ceil(characters * TOKENS_PER_CHARACTER);
  return { inputTokens: tokens(sent), outputTokens: tokens(written), estimated: true };
}
