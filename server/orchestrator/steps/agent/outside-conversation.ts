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
 * Returns where the conversation of an agent has text from outside of the workspace, in the words after "text from outside"; null if nowhere.
 * All that enters the context of a model counts: what its agent began with, and the results and errors of its tools.
 */
export function outsideIn(work: AgentWork, agent: AgentProgress, source: TranscriptSource): string | null {
  const [first] = work.outside ?? [];
  if (first !== undefined) return first;
  const tool = taintedBy(work, agent, source);
  return tool === null ? null : `by the tool ${inline(tool)}`;
}

/**
 * Returns the same for those who read the answer later. Left out is what they know without it: what earlier answers say themselves, and that
 * results of operations of the service always are from outside.
 */
export function outsideToRecord(work: AgentWork, agent: AgentProgress, source: TranscriptSource): string | null {
  const tools = work.tools.map(tool => (tool.instance_id === PLATFORM ? { ...tool, open_world: false } : tool));
  const outside = work.outside?.filter(place => place !== EARLIER);
  return outsideIn({ ...work, tools, outside }, agent, source);
}

/** Returns where earlier answers of the same conversation may quote text from outside. */
export function outsideOfEarlier(
  tools: readonly PlannedTool[],
  { isFromOutside, tools: used }: EarlierMessages,
): string[] {
  // Of memories the answer itself says whether they were from outside.
  const inside = tools.filter(({ open_world, instance_id }) => !open_world || instance_id === MEMORY);
  const known = new Set([READ_RESULT, ASK_USER, ...inside.map(({ name }) => name)]);
  return isFromOutside || used.some(name => !known.has(name)) ? [EARLIER] : [];
}

/** Returns where the answer of an agent may quote text from outside; null: nowhere. Results of operations of the service always are. */
export function outsideOfAnswer(work: AgentWork, { outside, toolCalls }: AgentProgress): string | null {
  const known = outside ?? work.outside?.[0] ?? null;
  if (known !== null || toolCalls === 0) return known;
  return work.tools.some(({ instance_id }) => instance_id === PLATFORM) ? 'by operations of Baton' : null;
}
