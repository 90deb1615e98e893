import type { AgentLimit, AgentProgress, GraphStep, JsonMap } from '../../core/index.ts';
import type { AgentWork } from './plan.ts';
import { readResultTool } from './read-result.ts';
import { type TranscriptSource, transcript } from './transcript.ts';
import type { TurnRequest } from './turn-caller.ts';
import type { TurnMessage } from './turn-messages.ts';

/** The content of a request to a model, without its address and the form of the answer. */
export type Prompt = Pick<TurnRequest, 'messages' | 'tools' | 'toolChoice'>;

/** Returns the prompt of the turn `step`. The same earlier steps always give the same prompt, so it can be read from the log later. */
export function turnPrompt(work: AgentWork, agent: AgentProgress, step: GraphStep, source: TranscriptSource): Prompt {
  const open = openPrompt(work, agent, source);
  const closing = closingOf(step);
  return closing === null ? open : closePrompt(open, closing);
}

/** Returns the prompt of a turn that may call tools. */
export function openPrompt(work: AgentWork, agent: AgentProgress, source: TranscriptSource): Prompt {
  const offered = work.tools.map(({ name, description, input_schema }) => ({
    name,
    description,
    inputSchema: input_schema as JsonMap,
  }));
  return {
    messages: transcript(work, agent, source),
    tools: offered.length === 0 ? [] : [...offered, readResultTool],
    toolChoice: offered.length === 0 ? 'none' : 'auto',
  };
}

/** Returns the prompt of the closing turn at a limit. */
export const closePrompt = ({ messages, tools }: Prompt, limit: AgentLimit): Prompt => ({
  messages: [...messages, closingMessage(limit)],
  tools,
  toolChoice: 'none',
});

/** Returns the limit for which this is the closing turn; null for other turns. */
export const closingOf = ({ closing }: GraphStep): AgentLimit | null =>
  typeof closing === 'string' ? (closing as AgentLimit) : null;

function closingMessage(limit: AgentLimit): TurnMessage {
  const text = `You have reached the limit ${limit}: no more tools can be called. Answer now with what you have, and say what is missing.`;
  return { role: 'user', content: [{ type: 'text', text }] };
}
