import type { z } from 'zod';
import type { Prompt } from '../../../orchestrator/steps/agent/prompt.ts';
import type { TurnMessage } from '../../../orchestrator/steps/agent/turn-messages.ts';
import type { Json } from '../../../platform/json.ts';
import type { RunPrompt } from './schemas.ts';

/**
 * The maximum number of characters of one part, and of all messages: a model with a context of a million tokens reads about four
 * times as many.
 */
const MAX_PART_CHARS = 64 * 1024;
const MAX_CHARS = 4 * 1024 * 1024;
const MAX_DESCRIPTION_CHARS = 1_000;

type Shown = z.input<typeof RunPrompt>;
type Message = Shown['messages'][number];
type Part = Message['content'][number];
type OneTurnPart = Exclude<TurnMessage['content'], string>[number];

/**
 * Returns a prompt for display: long parts lose their middles, and if all messages are too long, only the newest are
 * kept.
 */
export function boundedPrompt(prompt: Prompt & { model: string }): Omit<Shown, 'run_id' | 'step_id'> {
  const { model, tools, toolChoice } = prompt;
  const system = prompt.messages.filter(({ role }) => role === 'system').map(shownMessage);
  const said = prompt.messages.filter(({ role }) => role !== 'system').map(shownMessage);
  let room = MAX_CHARS - system.reduce((sum, message) => sum + lengthOf(message), 0);
  const kept = said.toReversed().filter((message, index) => {
    room -= lengthOf(message);
    return room >= 0 || index === 0;
  });
  return {
    model,
    messages: [...system, ...kept.reverse()],
    left_out: said.length - kept.length,
    tools: tools.map(({ name, description = '' }) => ({
      name,
      description: description.slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
    })),
    tool_choice: toolChoice,
  };
}

const lengthOf = (message: Message): number => JSON.stringify(message).length;

function shownMessage({ role, content }: TurnMessage): Message {
  if (typeof content === 'string') return { role, content: [{ type: 'text', text: cut(content) }] };
  return { role, content: content.map(shownPart) };
}

/** Returns a part without the fields that belong to the provider, such as signatures. */
function shownPart(part: OneTurnPart): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: cut(part.text) };
    case 'tool_call': {
      const { type, id, name } = part;
      return { type, id, name, arguments: cutValue(part.arguments) };
    }
    case 'tool_result': {
      const { type, id, name, output } = part;
      const value = output.type === 'denied' ? (output.reason ?? '') : output.value;
      const outcome = output.type === 'error' || output.type === 'denied' ? output.type : 'result';
      return { type, id, name, outcome, text: cut(typeof value === 'string' ? value : JSON.stringify(value)) };
    }
  }
}

function cutValue(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= MAX_PART_CHARS ? value : cut(text);
}

function cut(text: string): string {
  if (text.length <= MAX_PART_CHARS) return text;
  const half = MAX_PART_CHARS / 2;
  const hiddenCharacters = text.length - MAX_PART_CHARS;
  const note = `\n[… ${hiddenCharacters.toLocaleString('en')} characters are not shown here …]\n`;
  return `${text.slice(0, half).toWellFormed()}${note}${text.slice(-half).toWellFormed()}`;
}
