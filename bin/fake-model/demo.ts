import { type Call, type ChatRequest, type Said, textOf } from './script.ts';

/** The maximum depth of an example; deeper parts of a schema are left out. */
const MAX_DEPTH = 6;

/**
 * Returns the answer of the fake model without a script. It calls the tools that the person names, or else the first tool, with arguments
 * made from their schemas. Once it has their results, it repeats them as text.
 */
export function demoAnswer(request: ChatRequest): Said {
  const { messages, tools = [], tool_choice, response_format } = request;
  const userMessage = messages.findLast(({ role }) => role === 'user');
  const question = userMessage === undefined ? '' : textOf(userMessage).trim();
  const results = messages
    .slice(userMessage === undefined ? 0 : messages.lastIndexOf(userMessage) + 1)
    .filter(isResult);
  if (results.length === 0 && tools.length > 0 && tool_choice !== 'none') {
    const named = tools.filter(tool => mentions(question, tool.function.name));
    const calls = (named.length > 0 ? named : tools.slice(0, 1)).map((tool): Call => {
      const { name, parameters } = tool.function;
      return { name, arguments: exampleOf(parameters ?? {}, question) };
    });
    const about = `I will use ${calls.map(({ name }) => name).join(' and ')}.`;
    return { content: [{ reasoning: 'The scripted model uses each tool once.' }, { text: words(about) }, { calls }] };
  }
  const schema = response_format?.json_schema?.schema;
  if (schema !== undefined) return { content: [{ text: JSON.stringify(exampleOf(schema, question)) }] };
  const said =
    results.length > 0
      ? `The tools answered:\n\n${results.map(result => `- ${textOf(result).slice(0, 500)}`).join('\n')}`
      : `You said: ${question}`;
  return { content: [{ text: words(`${said}\n\nThis is the scripted model: it repeats what it reads.`) }] };
}

const isResult = ({ role }: ChatRequest['messages'][number]) => role === 'tool';

const mentions = (text: string, name: string) => text.toLowerCase().includes(name.toLowerCase());

/** Splits a text into pieces of one word. */
const words = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [text];

type Json = Call['arguments'];

/** Returns a value that fits a simple JSON Schema. Strings are `text`, so that a search finds something. */
export function exampleOf(schema: unknown, text: string, depth = 0): Json {
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return null;
  const {
    type,
    properties,
    required,
    items,
    enum: values,
    default: defaultValue,
    examples,
    minimum,
  } = Object.assign({} as Record<string, unknown>, schema);
  const given = [defaultValue, ...list(examples), ...list(values), Reflect.get(schema, 'const')].find(
    each => each !== undefined,
  );
  if (given !== undefined) return given as Json;
  const kind = Array.isArray(type) ? type[0] : type;
  switch (kind ?? (properties === undefined ? 'string' : 'object')) {
    case 'object': {
      const fields = Object.entries(properties ?? {}).filter(([name]) => list(required).includes(name));
      return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, text, depth + 1)]));
    }
    case 'array':
      return items === undefined ? [] : [exampleOf(items, text, depth + 1)];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : Number(/-?\d+(\.\d+)?/.exec(text)?.[0] ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return text === '' ? 'example' : text;
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
