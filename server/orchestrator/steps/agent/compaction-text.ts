import { textOfPart } from './conversation.ts';
import type { TurnMessage } from './turn-messages.ts';

/** The lengths to which parts are shortened, tried in this order. */
const LENGTHS = [8_000, 4_000, 2_000, 1_000, 500, 250, 120] as const;

/** Returns messages as text of at most `maxLength` characters. Long parts lose their middles first, then the whole text loses its middle. */
export function shortenedTo(messages: readonly TurnMessage[], maxLength: number): string {
  let text = '';
  for (const length of LENGTHS) {
    text = messages.map(message => shownMessage(message, length)).join('\n');
    if (text.length <= maxLength) return text;
  }
  return withoutMiddle(text, Math.max(0, maxLength));
}

function shownMessage(message: TurnMessage, length: number): string {
  if (message.role === 'system') return withoutMiddle(message.content, length);
  return message.content
    .map(part => `${speakerOf(message, part)}: ${withoutMiddle(textOfPart(part), length)}`)
    .join('\n');
}

function speakerOf({ role }: TurnMessage, part: { type: string; name?: string }): string {
  if (part.type === 'tool_result') return `Result of ${part.name}`;
  if (part.type === 'tool_call') return 'Assistant calls';
  return role === 'user' ? 'Person' : 'Assistant';
}

function withoutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const note = ' […] ';
  const half = Math.max(0, Math.floor((length - note.length) / 2));
  if (half === 0) return text.slice(0, length).toWellFormed();
  return `${text.slice(0, half).toWellFormed()}${note}${text.slice(text.length - half).toWellFormed()}`;
}
