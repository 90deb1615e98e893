import { isObject, type Json } from '../../server/platform/json.ts';
import { type ChatRequest, type Said, textOf } from './script.ts';

/** Matches a reference to a value in the last message, such as `{{last.proposal.id}}` or `{{last.tools.0.name}}`. */
const REFERENCE = /^\{\{last\.([\w.]+)\}\}$/;
/** Matches a reference to the last word in the conversation with a prefix, such as `{{seen.ORDER-}}`. */
const SEEN = /^\{\{seen\.([\w-]+)\}\}$/;

/**
 * Returns the answer with references in the arguments of its calls replaced by values: a script cannot know the ids that tools return.
 * Values come from the last message, read as JSON, or else from its last line. Words are searched in all messages. A missing value becomes
 * null.
 */
export function filled(said: Said, request: ChatRequest): Said {
  const text = textOf(request.messages.at(-1) ?? { role: '' });
  const last = readJson(text) ?? readJson(text.slice(text.lastIndexOf('\n') + 1));
  const all = request.messages.map(textOf).join('\n');
  const content = said.content.map(piece =>
    'calls' in piece
      ? { calls: piece.calls.map(call => ({ ...call, arguments: fill(call.arguments as Json, last, all) as never })) }
      : piece,
  );
  return { ...said, content };
}

function fill(value: Json, last: Json, all: string): Json {
  if (typeof value === 'string') {
    const start = SEEN.exec(value)?.[1];
    if (start !== undefined) return [...all.matchAll(new RegExp(`${start}[\\w-]*`, 'g'))].at(-1)?.[0] ?? null;
    const path = REFERENCE.exec(value)?.[1];
    return path === undefined ? value : valueAt(last, path.split('.'));
  }
  if (Array.isArray(value)) return value.map(each => fill(each, last, all));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner as Json, last, all)]));
}

function valueAt(value: Json, [name, ...rest]: string[]): Json {
  if (name === undefined) return value;
  if (Array.isArray(value)) return valueAt(value[Number(name)] ?? null, rest);
  return isObject(value) ? valueAt((value[name] ?? null) as Json, rest) : null;
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
