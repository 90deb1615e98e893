import type { TurnMessage } from '../../../orchestrator/steps/agent/turn-messages.ts';
import type { SummaryPart } from '../stream/parts.ts';

/**
 * The most characters of the earlier conversation that an agent reads. Of a longer one it reads the end, after a note
 * that says so.
 */
export const MAX_HISTORY_CHARS = 400_000;

/** A message of a branch. `summary`: what the run of this answer made of the older part of what it was given. */
export type Said = { role: 'user' | 'assistant'; text: string; summary: SummaryPart['data'] | null };

const NO_ANSWER = '[No answer.]';
const GOES_ON = '[The conversation goes on.]';

/**
 * Returns the conversation that an agent is given: a branch up to, and without, the message that is answered. What an earlier run has
 * summarised stays summarised, so that it is paid for once.
 */
export function conversationOf(branch: readonly Said[]): TurnMessage[] {
  let start = 0;
  let summary: Said['summary'] = null;
  for (const [at, said] of branch.entries()) {
    if (said.summary === null || said.summary.history === 0) continue;
    // The run of this answer was given what comes before the message that it answers.
    const request = at - 1;
    start = afterUnits(branch, firstThatFits(branch, start, request), { end: request, count: said.summary.history });
    summary = said.summary;
  }
  const first = firstThatFits(branch, start, branch.length);
  const told = toldOf(first - start, summary);
  const kept = branch.slice(first).map(messageOf);
  if (told === null) return kept;
  const part = { type: 'text' as const, text: told };
  const [head, ...rest] = kept;
  // Not every provider takes two messages of a person in a row.
  if (head?.role === 'user') return [{ role: 'user', content: [part, ...head.content] }, ...rest];
  const answer =
    head === undefined ? [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: GOES_ON }] }] : kept;
  return [{ role: 'user', content: [part] }, ...answer];
}

function messageOf({ role, text }: Said): Extract<TurnMessage, { role: 'user' | 'assistant' }> {
  return { role, content: [{ type: 'text', text: text === '' ? NO_ANSWER : text }] };
}

function toldOf(missing: number, summary: Said['summary']): string | null {
  const told = [
    ...(missing === 0
      ? []
      : [`[The ${missing} messages before this one are not shown: the conversation is too long.]`]),
    ...(summary === null
      ? []
      : [
          `Summary of the ${summary.messages} messages of this conversation that are left out here:\n\n${summary.text}`,
        ]),
  ];
  return told.length === 0 ? null : told.join('\n\n');
}

/** Returns the first of the last messages that fit, of those from `start` to before `end`. */
function firstThatFits(branch: readonly Said[], start: number, end: number): number {
  let length = 0;
  for (let at = end - 1; at >= start; at -= 1) {
    length += branch[at]?.text.length ?? 0;
    if (length > MAX_HISTORY_CHARS) return at + 1;
  }
  return start;
}

/** Returns where the next unit begins after `count` of them; a unit begins with what a person said. */
function afterUnits(branch: readonly Said[], from: number, { end, count }: { end: number; count: number }): number {
  let units = 0;
  for (let at = from; at < end; at += 1) {
    if (at === from || branch[at]?.role === 'user') units += 1;
    if (units > count) return at;
  }
  return end;
}
