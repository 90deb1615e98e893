import type { Conversations } from '../../../orchestrator/steps/conversations.ts';
import { whileDatabaseAway } from '../../../platform/postgres/while-away.ts';
import { type AnswerServices, readAnswerOf } from '../answers/settle.ts';
import type { MessagePart } from '../stream/parts.ts';
import { toldOf } from './context-text.ts';
import { conversationOf, type Said } from './conversation.ts';
import { findHistory, type MessageRow } from './store.ts';

/** Gives agents the conversation before the message that they answer. */
export function createConversations(services: AnswerServices): Conversations {
  const before = async (tenantId: string, runId: string) => {
    const found = await findHistory(services.pool, { tenantId, runId });
    if (found === null) return [];
    const branch: Said[] = [];
    for (const message of found.messages) branch.push(await toSaid(services, tenantId, message));
    return conversationOf(branch);
  };
  return { before: ({ id, tenantId }, signal) => whileDatabaseAway(signal, () => before(tenantId, id)) };
}

type Earlier = Pick<MessageRow, 'id' | 'role' | 'status' | 'parts' | 'run_id'>;

async function toSaid(services: AnswerServices, tenantId: string, message: Earlier): Promise<Said> {
  const { role, status, run_id: runId } = message;
  if (role === 'user') return { role, text: toldOf(message.parts), summary: null };
  // Its run has ended, and what it says may not have been kept yet.
  const isUnread = status === 'running' && runId !== null;
  const { parts } = isUnread ? await readAnswerOf(services, { tenantId, runId }) : message;
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
