import {
  type Conversations,
  type EarlierMessages,
  NO_EARLIER_MESSAGES,
} from '../../../orchestrator/steps/agent/conversations.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { type AnswerServices, readAnswerOf } from '../answers/ended-answer.ts';
import type { MessagePart } from '../stream/parts.ts';
import { outsideOfMessage, textForAgent } from './context-text.ts';
import { type BranchMessage, conversationOf } from './conversation.ts';
import { findHistory, type MessageRow } from './store.ts';

/** Creates the port through which agents read the conversation before the message that they answer. */
export function createConversations(services: AnswerServices): Conversations {
  const before = async (tenantId: string, runId: string): Promise<EarlierMessages> => {
    const found = await findHistory(services.pool, { tenantId, runId });
    if (found === null) return NO_EARLIER_MESSAGES;
    const branch: BranchMessage[] = [];
    const all: MessagePart[] = [];
    for (const message of found.messages) {
      const parts = await partsOf(services, tenantId, message);
      branch.push(toBranchMessage(message.role, parts));
      all.push(...parts);
    }
    return { messages: conversationOf(branch), ...sourcesIn(all) };
  };
  return { before: ({ id, tenantId }, signal) => whileDatabaseAway(signal, () => before(tenantId, id)) };
}

type Earlier = Pick<MessageRow, 'id' | 'role' | 'status' | 'parts' | 'run_id'>;

async function partsOf(
  services: AnswerServices,
  tenantId: string,
  { role, status, parts, run_id: runId }: Earlier,
): Promise<MessagePart[]> {
  // The run of this answer has ended, but the answer may not be saved yet.
  const isUnread = role !== 'user' && status === 'running' && runId !== null;
  return isUnread ? (await readAnswerOf(services, { tenantId, runId })).parts : parts;
}

/** Returns the sources that earlier messages have read and may quote. Older answers recorded only the names of their tools. */
function sourcesIn(parts: readonly MessagePart[]): Pick<EarlierMessages, 'isFromOutside' | 'isPrivate' | 'tools'> {
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

function toBranchMessage(role: Earlier['role'], parts: readonly MessagePart[]): BranchMessage {
  if (role === 'user') return { role, text: textForAgent(parts), summary: null };
  const summary = parts.findLast(part => part.type === 'data-summary');
  return { role, text: textByTurns(parts), summary: summary?.data ?? null };
}

/** Returns the text of an answer, turn by turn, without the results of tools: the agent can call the tools again. */
function textByTurns(parts: readonly MessagePart[]): string {
  const turns: string[] = [];
  for (const part of parts) {
    if (part.type === 'step-start') turns.push('');
    else if (part.type === 'text') turns.push(`${turns.pop() ?? ''}${part.text}`);
  }
  return turns.filter(text => text.trim() !== '').join('\n\n');
}
