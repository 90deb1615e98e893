import {
  type Conversations,
  type EarlierMessages,
  NO_EARLIER_MESSAGES,
} from '../../../orchestrator/steps/agent/conversations.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { type AnswerServices, readAnswerOf } from '../answers/settle.ts';
import type { MessagePart } from '../stream/parts.ts';
import { outsideOfMessage, toldOf } from './context-text.ts';
import { conversationOf, type Said } from './conversation.ts';
import { findHistory, type MessageRow } from './store.ts';

/** Gives agents the conversation before the message that they answer. */
export function createConversations(services: AnswerServices): Conversations {
  const before = async (tenantId: string, runId: string): Promise<EarlierMessages> => {
    const found = await findHistory(services.pool, { tenantId, runId });
    if (found === null) return NO_EARLIER_MESSAGES;
    const branch: Said[] = [];
    const all: MessagePart[] = [];
    for (const message of found.messages) {
      const parts = await partsOf(services, tenantId, message);
      branch.push(toSaid(message.role, parts));
      all.push(...parts);
    }
    return { messages: conversationOf(branch), ...readBy(all) };
  };
  return { before: ({ id, tenantId }, signal) => whileDatabaseAway(signal, () => before(tenantId, id)) };
}

type Earlier = Pick<MessageRow, 'id' | 'role' | 'status' | 'parts' | 'run_id'>;

async function partsOf(
  services: AnswerServices,
  tenantId: string,
  { role, status, parts, run_id: runId }: Earlier,
): Promise<MessagePart[]> {
  // Its run has ended, and what it says may not have been kept yet.
  const isUnread = role !== 'user' && status === 'running' && runId !== null;
  return isUnread ? (await readAnswerOf(services, { tenantId, runId })).parts : parts;
}

/** Returns the sources that earlier messages have read and may quote. Answers from before it was recorded name their tools alone. */
function readBy(parts: readonly MessagePart[]): Pick<EarlierMessages, 'isFromOutside' | 'isPrivate' | 'tools'> {
  const tools = parts.flatMap(part =>
    part.type === 'dynamic-tool' && (part.state === 'output-available' || part.state === 'output-error')
      ? [part.toolName]
      : [],
  );
  const quotesError = outsideOfMessage(parts) !== undefined;
  const isFromOutside = parts.some(({ type }) => type === 'data-outside') || quotesError;
  const isPrivate = parts.some(({ type }) => type === 'data-recall') || quotesError;
  return { isFromOutside, isPrivate, tools: [...new Set(tools)] };
}

function toSaid(role: Earlier['role'], parts: readonly MessagePart[]): Said {
  if (role === 'user') return { role, text: toldOf(parts), summary: null };
  const summary = parts.findLast(part => part.type === 'data-summary');
  return { role, text: spokenIn(parts), summary: summary?.data ?? null };
}

/** Returns the text of an answer, turn by turn, without the results of tools: the agent can call the tools again. */
function spokenIn(parts: readonly MessagePart[]): string {
  const turns: string[] = [];
  for (const part of parts) {
    if (part.type === 'step-start') turns.push('');
    else if (part.type === 'text') turns.push(`${turns.pop() ?? ''}${part.text}`);
  }
  return turns.filter(text => text.trim() !== '').join('\n\n');
}
