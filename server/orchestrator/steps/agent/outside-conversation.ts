import type { AgentProgress } from '../../core/index.ts';
import { inline } from '../quoted.ts';
import { ASK_USER } from './ask-user.ts';
import type { EarlierMessages } from './conversations.ts';
import { MEMORY } from './memory-tools.ts';
import type { AgentWork, PlannedTool } from './plan.ts';
import { PLATFORM } from './platform-tools.ts';
import { READ_RESULT } from './read-result.ts';
import { type TranscriptSource, taintedBy } from './transcript.ts';

const EARLIER = 'in an earlier answer of this conversation';

/**
 * Returns the first place of text from outside in an agent's conversation, as words that continue "text from outside"; null for none. The
 * conversation includes the initial messages, and the results and errors of tools.
 */
export function outsideIn(work: AgentWork, agent: AgentProgress, source: TranscriptSource): string | null {
  const [first] = work.outside ?? [];
  if (first !== undefined) return first;
  const tool = taintedBy(work, agent, source);
  return tool === null ? null : `by the tool ${inline(tool)}`;
}

/**
 * Returns the place that the log records for later readers. Places that readers derive themselves are left out: earlier answers, which have
 * their own records, and operations of the service, whose results always count as from outside.
 */
export function outsideToRecord(work: AgentWork, agent: AgentProgress, source: TranscriptSource): string | null {
  const tools = work.tools.map(tool => (tool.instance_id === PLATFORM ? { ...tool, open_world: false } : tool));
  const outside = work.outside?.filter(place => place !== EARLIER);
  return outsideIn({ ...work, tools, outside }, agent, source);
}

/** Returns the place of text from outside in earlier answers of the conversation; empty for none. */
export function outsideOfEarlier(
  tools: readonly PlannedTool[],
  { isFromOutside, tools: used }: EarlierMessages,
): string[] {
  // An answer records itself whether its memories were from outside.
  const inside = tools.filter(({ open_world, instance_id }) => !open_world || instance_id === MEMORY);
  const known = new Set([READ_RESULT, ASK_USER, ...inside.map(({ name }) => name)]);
  return isFromOutside || used.some(name => !known.has(name)) ? [EARLIER] : [];
}

/** Returns the place of text from outside that the answer of an agent may quote; null for none. Results of operations always count. */
export function outsideOfAnswer(work: AgentWork, { outside, toolCalls }: AgentProgress): string | null {
  const known = outside ?? work.outside?.[0] ?? null;
  if (known !== null || toolCalls === 0) return known;
  return work.tools.some(({ instance_id }) => instance_id === PLATFORM) ? 'by operations of Baton' : null;
}
