import type { Json, JsonObject } from '../json.ts';
import { parseAnswerJson } from '../json-text.ts';
import type { ModelFailure } from './failure.ts';
import { adaptSchema } from './provider-schema.ts';
import type { ModelProvider } from './providers.ts';
import type { CallOptions } from './read-stream.ts';

/** Returns the instructions with the schema in them, because some servers accept no schema in the request. */
export function instructionsWith(system: string | undefined, schema: JsonObject | undefined): string | undefined {
  if (schema === undefined) return system;
  const demand = `Answer with JSON alone, without a code fence, that fulfils this JSON Schema:\n${JSON.stringify(schema)}`;
  return system === undefined || system === '' ? demand : `${system}\n\n${demand}`;
}

/** Returns the options that every request to the provider has, and those that ask for JSON of a schema. */
export function structuredOptions(
  provider: ModelProvider,
  schema: JsonObject | undefined,
): Pick<CallOptions, 'responseFormat' | 'providerOptions'> {
  if (schema === undefined) return { providerOptions: optionsOf(provider, false) };
  const adapted = adaptSchema(provider, schema);
  return {
    responseFormat: { type: 'json', name: 'response', schema: adapted.schema },
    providerOptions: optionsOf(provider, adapted.strict),
  };
}

function optionsOf(provider: ModelProvider, strictJsonSchema: boolean): NonNullable<CallOptions['providerOptions']> {
  switch (provider) {
    case 'openai':
      // Otherwise OpenAI keeps question and answer for 30 days. The library then asks reasoning models for encrypted reasoning.
      return { openai: { store: false, strictJsonSchema } };
    case 'mistral':
      return { mistral: { strictJsonSchema } };
    case 'openai_compatible':
      return { openaiCompatible: { strictJsonSchema } };
    case 'anthropic':
    case 'google':
      return {};
  }
}

/** An answer of JSON: `text` without the thoughts before it, which are `reasoning`. */
export type StructuredAnswer = { value: Json; text: string; reasoning: string };

/**
 * Reads the text of an answer that should be JSON of a form. `problem` returns what is wrong with a value, '' for nothing.
 * Returns a failure for any other text.
 */
export function parseAnswer(
  text: string,
  { cut, problem }: { cut: boolean; problem: (value: Json) => string },
): StructuredAnswer | ModelFailure {
  if (cut) {
    // The same limit cuts the next answer as well.
    const message = 'The answer reached the limit of tokens before its JSON was complete: raise max_tokens.';
    return { kind: 'failed', code: 'model_output_truncated', message, retryable: false };
  }
  const parsed = parseObject(text);
  const wrong = parsed === undefined ? 'it is not JSON' : problem(parsed.value);
  if (parsed !== undefined && wrong === '') return parsed;
  // Models draw at random: the next answer may fit.
  const message = `The answer does not fit response_schema: ${wrong}.`;
  return { kind: 'failed', code: 'response_schema_mismatch', message, retryable: true };
}

const THOUGHTS_BEGIN = /^\s*<(?:think|thinking|reasoning|thought)>/i;
const THOUGHTS_END = /<\/(?:think|thinking|reasoning|thought)>/i;
const FENCE = /^[ \t]*(`{3,}|~{3,})[^`\n]*\n/m;

/** Returns the JSON of an answer, also behind thoughts and within a fence; undefined for anything else. */
function parseObject(text: string): StructuredAnswer | undefined {
  const begin = THOUGHTS_BEGIN.exec(text);
  // Without a beginning, what looks like the end of thoughts may be part of the JSON.
  const whole = begin === null ? (parseJson(text) ?? parseFenced(text)) : undefined;
  if (whole !== undefined) return { ...whole, text, reasoning: '' };
  // Templates of some servers begin the thoughts in the prompt, so that the answer has only their end.
  const end = THOUGHTS_END.exec(text);
  if (end === null) return undefined;
  const rest = text.slice(end.index + end[0].length).trimStart();
  const found = parseJson(rest) ?? parseFenced(rest);
  return found && { ...found, text: rest, reasoning: text.slice(begin?.[0].length ?? 0, end.index).trim() };
}

/** Returns the JSON in the code fence that small models put around it, often with a sentence before it. */
function parseFenced(text: string): { value: Json } | undefined {
  const open = FENCE.exec(text);
  if (open === null) return undefined;
  const body = text.slice(open.index + open[0].length);
  const mark = open[1] ?? '';
  // A fence ends on a separate line, or behind the JSON, in which there may be another.
  return [body.indexOf(`\n${mark}`), body.lastIndexOf(mark)]
    .map(end => (end === -1 ? undefined : parseJson(body.slice(0, end))))
    .find(parsed => parsed !== undefined);
}

function parseJson(text: string): { value: Json } | undefined {
  try {
    return { value: parseAnswerJson(text.trim()) };
  } catch {
    return undefined;
  }
}
