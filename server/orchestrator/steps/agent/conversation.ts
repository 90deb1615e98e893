import { z } from 'zod';
import type { AgentProgress, JsonValue } from '../../core/index.ts';
import type { AgentWork } from './plan.ts';
import { readResultTool } from './read-result.ts';
import type { TurnMessage } from './turn-messages.ts';
import { turnResultOf } from './turn-result.ts';

/** The assumed context window, in tokens, of a model whose window is not known. */
export const DEFAULT_CONTEXT_WINDOW = 32_768;
/** The share of the context window at which a conversation is compacted. */
export const COMPACT_AT = 0.7;
/** The estimate before the provider has counted tokens. English text has about 0.25 tokens per character, JSON more. */
export const TOKENS_PER_CHARACTER = 0.3;
const MIN_RATIO = 0.1;
const MAX_RATIO = 2;

/** The result of a compaction, as the event log keeps it: a field is never renamed. */
export const Summary = z.strictObject({
  text: z.string(),
  /** The number of messages that the summary replaces, including those of earlier summaries. */
  messages: z.number(),
  /** The numbers of units before the request, and of turns, that the summary replaces. */
  history: z.number(),
  turns: z.number(),
  model: z.string().optional(),
  usage: z.strictObject({ input_tokens: z.number(), output_tokens: z.number() }).optional(),
});
export type Summary = z.infer<typeof Summary>;

/** The conversation of an agent in units that are kept or left out completely, so that calls stay with their results. */
export type Conversation = {
  system: readonly TurnMessage[];
  /** The conversation before the request; each unit begins with a message of a person. */
  history: readonly TurnMessage[][];
  /** The last message of a person. It is always kept. */
  request: readonly TurnMessage[];
  /** One unit for each turn, from turn 1 on; a turn that failed is empty. */
  turns: readonly TurnMessage[][];
  summary: Summary | null;
};

/** Returns the initial messages of an agent in units. */
export function conversationOf({ messages }: Pick<AgentWork, 'messages'>): Conversation {
  const system = messages.filter(({ role }) => role === 'system');
  const said = messages.filter(({ role }) => role !== 'system');
  const last = said.findLastIndex(({ role }) => role === 'user');
  const history: TurnMessage[][] = [];
  for (const message of said.slice(0, Math.max(0, last))) {
    const unit = history.at(-1);
    if (message.role === 'user' || unit === undefined) history.push([message]);
    else unit.push(message);
  }
  return { system, history, request: said.slice(Math.max(0, last)), turns: [], summary: null };
}

/** Returns the messages of a conversation, with the summary in place of the messages that it replaces. */
export function messagesOf({ system, history, request, turns, summary }: Conversation): TurnMessage[] {
  if (summary === null) return [...system, ...history.flat(), ...request, ...turns.flat()];
  const kept = [...history.slice(summary.history).flat(), ...request, ...turns.slice(summary.turns).flat()];
  const text = `Summary of the ${summary.messages} messages of this conversation that are left out here:\n\n${summary.text}`;
  const part = { type: 'text' as const, text };
  const [first, ...rest] = kept;
  // Some providers refuse two consecutive messages of a user.
  if (first?.role === 'user') return [...system, { role: 'user', content: [part, ...first.content] }, ...rest];
  return [...system, { role: 'user', content: [part] }, ...kept];
}

/** Returns the last summary of an agent's conversation; null if it was never compacted. */
export function summaryOf(
  { compactions }: Pick<AgentProgress, 'compactions'>,
  source: { result(step: string): JsonValue },
): Summary | null {
  const last = compactions.findLast(({ status }) => status === 'completed');
  const found = last === undefined ? null : (Summary.safeParse(source.result(last.id)).data ?? null);
  return found === null || found.messages === 0 ? null : found;
}

/** Returns the number of characters of messages. */
export function charactersOf(messages: readonly TurnMessage[]): number {
  let characters = 0;
  for (const message of messages) {
    if (message.role === 'system') characters += message.content.length;
    else for (const part of message.content) characters += textOfPart(part).length;
  }
  return characters;
}

/** Returns the number of characters of an agent's tools as the model reads them. */
export function charactersOfTools({ tools }: Pick<AgentWork, 'tools'>): number {
  if (tools.length === 0) return 0;
  const offered = tools.map(({ name, description, input_schema }) => ({ name, description, input_schema }));
  return JSON.stringify([...offered, readResultTool]).length;
}

type Part = Exclude<TurnMessage['content'], string>[number];

/** Returns a part of a message as text. */
export function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool_call':
      return `${part.name} ${JSON.stringify(part.arguments)}`;
    case 'tool_result': {
      const { output } = part;
      if (output.type === 'denied') return output.reason ?? '';
      return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
    }
  }
}

/** Returns the tokens per character, from the provider's count for the last turn. */
export function tokensPerCharacter(
  { turns }: Pick<AgentProgress, 'turns'>,
  source: { result(step: string): JsonValue },
): number {
  const last = turns.findLast(({ status }) => status === 'completed');
  return ratioOf(last === undefined ? null : source.result(last.id));
}

/** Returns the tokens per character from the result of a turn. */
export function ratioOf(turn: JsonValue): number {
  const { sent_characters: sent = 0, usage } = turnResultOf(turn) ?? {};
  if (usage === undefined || usage.input_tokens === 0 || sent === 0) return TOKENS_PER_CHARACTER;
  return Math.min(MAX_RATIO, Math.max(MIN_RATIO, usage.input_tokens / sent));
}
