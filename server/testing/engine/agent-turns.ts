import type { OfferedTool } from '../../orchestrator/steps/agent/tools.ts';
import type { TurnAnswer, TurnRequest } from '../../orchestrator/steps/agent/turn-caller.ts';
import type { ContentPart } from '../../orchestrator/steps/agent/turn-messages.ts';

/**
 * Returns a tool of a server as agents see it. By default it writes, and is neither destructive nor open to the world;
 * `more` overrides this.
 */
export const offered = (name: string, more: Partial<OfferedTool> = {}): OfferedTool => ({
  name,
  description: '',
  inputSchema: { type: 'object' },
  readOnly: false,
  destructive: false,
  openWorld: false,
  ...more,
});

export const say = (text: string): ContentPart => ({ type: 'text', text });

/** Returns the answer of a model that ends its turn with this content, with the provider's full name of the model. */
export function answered(content: ContentPart[], usage = { inputTokens: 10, outputTokens: 5 }): TurnAnswer {
  const isCall = content.some(({ type }) => type === 'tool_call');
  const finishReason = isCall ? 'tool_calls' : 'stop';
  return { kind: 'answer', content, finishReason, model: 'test/tiny-1', usage, warnings: [] };
}

/** Returns the result of a call as the model read it in the last of these turns. */
export const toldIn = (asked: readonly TurnRequest[], id: string) =>
  asked
    .at(-1)
    ?.messages.flatMap(message => (message.role === 'tool' ? message.content : []))
    .find(part => part.id === id);
