import type { TurnMessage } from '../../../orchestrator/steps/agent/turn-messages.ts';
import type { SummaryPart } from '../stream/parts.ts';

/**
 * The maximum number of characters of the earlier conversation that an agent reads. A longer conversation is cut to its end, after a
 * note.
 */
export const MAX_HISTORY_CHARS = 400_000;

/** A message of a branch. `summary`: the summary that the run of this answer made of older messages. */
export type BranchMessage = { role: 'user' | 'assistant'; text: string; summary: SummaryPart['data'] | null };

const NO_ANSWER = '[No answer.]';
const GOES_ON = '[The conversation goes on.]';

/**
 * Returns the conversation that an agent reads: the messages of a branch before the one to answer. Summaries of earlier runs are used again,
 * so that each is paid for once.
 */
export function conversationOf(branch: readonly BranchMessage[]): TurnMessage[] {
  let start = 0;
  let summary: BranchMessage['summary'] = null;
  for (const [at, said] of branch.entries()) {
    if (said.summary === null || said.summary.history === 0) continue;
    // The run of this answer read the messages before the one that it answers.
    const request = at - 1;
    start = afterUnits(branch, firstThatFits(branch, start, request), { end: request, count: said.summary.history });
    summary = said.summary;
  }
  const first = firstThatFits(branch, start, branch.length);
  const note = omissionNote(first - start, summary);
  const kept = branch.slice(first).map(messageOf);
  if (note === null) return kept;
  const part = { type: 'text' as const, text: note };
  const [head, ...rest] = kept;
  // Some providers refuse two consecutive messages of a person.
  if (head?.role === 'user') return [{ role: 'user', content: [part, ...head.content] }, ...rest];
  const answer =
    head === undefined ? [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: GOES_ON }] }] : kept;
  return [{ role: 'user', content: [part] }, ...answer];
}

function messageOf({ role, text }: BranchMessage): Extract<TurnMessage, { role: 'user' | 'assistant' }> {
  return { role, content: [{ type: 'text', text: text === '' ? NO_ANSWER : text }] };
}

function omissionNote(missing: number, summary: BranchMessage['summary']): string | null {
  const notes = [
    ...(missing === 0
      ? []
      : [`[The ${missing} messages before this one are not shown: the conversation is too long.]`]),
    ...(summary === null
      ? []
      : [
          `Summary of the ${summary.messages} messages of this conversation that are left out here:\n\n${summary.text}`,
        ]),
  ];
  return notes.length === 0 ? null : notes.join('\n\n');
}

/** Returns the index of the first message from which all messages up to `end` (exclusive) fit, not before `start`. */
function firstThatFits(branch: readonly BranchMessage[], start: number, end: number): number {
  let length = 0;
  for (let at = end - 1; at >= start; at -= 1) {
    length += branch[at]?.text.length ?? 0;
    if (length > MAX_HISTORY_CHARS) return at + 1;
  }
  return start;
}

/** Returns the index after `count` units. A unit begins with a message of a person. */
function afterUnits(
  branch: readonly BranchMessage[],
  from: number,
  { end, count }: { end: number; count: number },
): number {
  let units = 0;
  for (let at = from; at < end; at += 1) {
    if (at === from || branch[at]?.role === 'user') units += 1;
    if (units > count) return at;
  }
  return end;
}
