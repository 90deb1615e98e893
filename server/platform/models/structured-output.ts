import { isObject, type Json, type JsonObject } from '../json.ts';
import type { ModelFailure } from './failure.ts';
import type { ModelProvider } from './providers.ts';
import type { CallOptions } from './read-stream.ts';

/**
 * Whether OpenAI's strict mode takes a schema: every object names all its properties as required and allows no others. Any other
 * schema it would refuse, so that it is sent as a wish; what comes is checked either way.
 */
function isStrictSchema(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isObject(schema)) return true;
  if (schema.type === 'object' || schema.properties !== undefined) {
    const names = isObject(schema.properties) ? Object.keys(schema.properties) : [];
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false || !names.every(name => required.includes(name))) return false;
  }
  const { properties, ...rest } = schema;
  const inner = isObject(properties) ? Object.values(properties) : [];
  return [...inner, ...Object.values(rest)].every(isStrictSchema);
}

/** Returns the instructions with a schema in them, for servers of which some take no schema in the request. */
export function instructionsWith(system: string | undefined, schema: JsonObject | undefined): string | undefined {
  if (schema === undefined) return system;
  const demand = `Answer with JSON alone, without a code fence, that fulfils this JSON Schema:\n${JSON.stringify(schema)}`;
  return system === undefined || system === '' ? demand : `${system}\n\n${demand}`;
}

/** Returns the options of a request that ask a provider for JSON of a form, and those that it always gets. */
export function structuredOptions(
  provider: ModelProvider,
  schema: JsonObject | undefined,
): Pick<CallOptions, 'responseFormat' | 'providerOptions'> {
  return {
    ...(schema === undefined ? {} : { responseFormat: { type: 'json', name: 'response', schema } }),
    providerOptions: optionsOf(provider, schema !== undefined && isStrictSchema(schema)),
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

/**
 * Reads the text of an answer that should be JSON of a form. `problem` returns what is wrong with a value, '' for nothing.
 * Returns a failure for any other text.
 */
export function parseAnswer(
  text: string,
  { cut, problem }: { cut: boolean; problem: (value: Json) => string },
): { value: Json } | ModelFailure {
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

/** JSON, also within the code fence that small models put around it; undefined for anything else. */
function parseObject(text: string): { value: Json } | undefined {
  const trimmed = text.trim();
  const fenced = trimmed.startsWith('```') && trimmed.endsWith('```') && trimmed.includes('\n');
  const body = fenced ? trimmed.slice(trimmed.indexOf('\n') + 1, -3) : trimmed;
  try {
    return { value: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
