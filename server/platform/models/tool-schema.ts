import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { ContentPart } from './messages.ts';
import type { ModelProvider } from './providers.ts';
import { mergeSchemas, resolveReference, SchemaSubset } from './schema-subset.ts';

type Tool = { name: string; description?: string | undefined; inputSchema: JsonObject };

/** Keywords about the arguments as a whole, which OpenAI and Anthropic refuse at the top of a tool's schema, or ignore. */
const ABOUT_THE_WHOLE = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'enum',
  'const',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
] as const;
/** The length of a schema that a description still quotes. */
const MAX_QUOTED = 2_000;
const MAX_COMBINED_DEPTH = 6;
/** The names of arguments that Anthropic takes. */
const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Tools as a provider takes them. */
export type AdaptedTools = {
  tools: Tool[];
  /** Gives the arguments of calls the names that the tools know. */
  restore(content: ContentPart[]): ContentPart[];
};

/**
 * Adapts the schemas of tools to the keywords that a provider accepts, because it refuses a whole request for one unsupported
 * schema. Callers check the arguments of a call against the original schema.
 */
export function adaptTools(provider: ModelProvider, tools: readonly Tool[]): AdaptedTools {
  const renamed = new Map<string, ReadonlyMap<string, string>>();
  const adapted = tools.map(tool => {
    const { schema, condition } = plainSchema(tool.inputSchema, provider);
    const { schema: named, names } = provider === 'anthropic' ? withPlainNames(schema) : { schema, names: new Map() };
    if (names.size > 0) renamed.set(tool.name, names);
    const description = [tool.description, condition].filter(text => text !== undefined && text !== '').join('\n\n');
    return { ...tool, ...(description === '' ? {} : { description }), inputSchema: named };
  });
  return { tools: adapted, restore: content => content.map(part => restored(part, renamed)) };
}

function restored(part: ContentPart, renamed: ReadonlyMap<string, ReadonlyMap<string, string>>): ContentPart {
  const names = part.type === 'tool_call' ? renamed.get(part.name) : undefined;
  if (part.type !== 'tool_call' || names === undefined || !isObject(part.arguments)) return part;
  const given = Object.entries(part.arguments);
  // The text of the arguments has the other names.
  const { raw: _, ...call } = part;
  return { ...call, arguments: Object.fromEntries(given.map(([name, value]) => [names.get(name) ?? name, value])) };
}

/** Returns the schema of an object without the conditions about the object as a whole, and these conditions as text. */
function plainSchema(original: JsonObject, provider: ModelProvider): { schema: JsonObject; condition?: string } {
  const subset = new SchemaSubset(original, provider);
  const { $ref: _, ...top } = combined(original, original, 0);
  const { anyOf: _any, ...schema } = subset.schema(top) ?? {};
  const whole = wholeOf(original);
  const definitions = subset.definitions();
  return {
    schema: {
      ...schema,
      type: 'object',
      properties: schema.properties ?? {},
      ...(definitions === undefined ? {} : { $defs: definitions }),
    },
    ...(whole === undefined ? {} : { condition: inWords(whole) }),
  };
}

/** Returns the keywords of a schema that concern all arguments together; undefined if there are none. */
function wholeOf(schema: JsonObject): JsonObject | undefined {
  const kept = ABOUT_THE_WHOLE.flatMap(keyword => {
    const value = schema[keyword];
    return value === undefined || value === null ? [] : [[keyword, value] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function inWords(whole: JsonObject): string {
  const text = JSON.stringify(whole);
  if (text.length <= MAX_QUOTED) return `The arguments must also fit this JSON Schema: ${text}`;
  const choices = [whole.oneOf, whole.anyOf].find(list => Array.isArray(list)) ?? [];
  const fields = (Array.isArray(choices) ? choices : []).flatMap(choice =>
    isObject(choice) && Array.isArray(choice.required) ? [choice.required.join(', ')] : [],
  );
  const requirement = fields.length === 0 ? '' : ` They need one of these sets of fields: ${fields.join('; or ')}.`;
  return `Not every combination of arguments is accepted.${requirement}`.slice(0, MAX_QUOTED);
}

/**
 * Returns one object schema for all combined parts: it has the properties of every part, and requires the properties that every
 * choice requires. A property's schema combines the schemas that the choices give it.
 */
function combined(schema: Json | undefined, root: JsonObject, depth: number): JsonObject {
  if (!isObject(schema) || depth > MAX_COMBINED_DEPTH) return {};
  const { $ref: reference, ...own } = schema;
  const target = typeof reference === 'string' ? resolveReference(root, reference) : undefined;
  const referred = target === undefined || target === schema ? {} : combined(target, root, depth + 1);
  const rest: JsonObject = mergeSchemas(own, referred);
  const isWhole = ABOUT_THE_WHOLE.some(keyword => isPresent(own[keyword]));
  for (const keyword of ABOUT_THE_WHOLE) delete rest[keyword];
  let result = rest;
  const parts = Array.isArray(own.allOf) ? own.allOf : [];
  for (const part of parts) result = mergeSchemas(result, combined(part, root, depth + 1));
  for (const list of [own.anyOf, own.oneOf]) {
    if (!Array.isArray(list)) continue;
    const choices = list.filter(choice => isObject(choice)).map(choice => combined(choice, root, depth + 1));
    if (choices.length > 0) result = mergeSchemas(result, eitherOf(choices));
  }
  const { properties: known } = result;
  const conditional = eitherOf([own.then, own.else].map(part => combined(part, root, depth + 1))).properties;
  // Adds the fields of `then` and `else` that are not known yet; none of them is required.
  if (isObject(conditional)) result = { ...result, properties: { ...conditional, ...(isObject(known) ? known : {}) } };
  // Each part forbids the fields of the others.
  if (isWhole) delete result.additionalProperties;
  return result;
}

const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null;

/** Returns the schema of an object that is one of several. */
function eitherOf(choices: readonly JsonObject[]): JsonObject {
  const properties = new Map<string, Json[]>();
  for (const { properties: own } of choices) {
    for (const [name, schema] of Object.entries(isObject(own) ? own : {})) {
      const known = properties.get(name) ?? [];
      if (!known.some(one => isDeepStrictEqual(one, schema))) properties.set(name, [...known, schema]);
    }
  }
  const [first, ...others] = choices.map(({ required }) => new Set(Array.isArray(required) ? required : []));
  const required = [...(first ?? [])].filter(name => others.every(names => names.has(name)));
  return {
    ...(properties.size === 0
      ? {}
      : { properties: Object.fromEntries([...properties].map(([name, schemas]) => [name, oneOfValues(schemas)])) }),
    ...(required.length === 0 ? {} : { required }),
  };
}

/**
 * Returns a schema for one of several. The field that distinguishes choices has a constant in each: the constants become an
 * enumeration.
 */
function oneOfValues(schemas: readonly Json[]): Json {
  const [only] = schemas;
  if (schemas.length === 1 && only !== undefined) return only;
  const values = schemas.flatMap(schema => {
    if (!isObject(schema)) return [];
    return schema.const === undefined ? (Array.isArray(schema.enum) ? [schema.enum] : []) : [[schema.const]];
  });
  if (values.length < schemas.length) return { anyOf: [...schemas] };
  const type = isObject(only) ? only.type : undefined;
  const isSameType = typeof type === 'string' && schemas.every(schema => isObject(schema) && schema.type === type);
  return { ...(isSameType ? { type } : {}), enum: [...new Set(values.flat())] };
}

/** Returns the schema with argument names that Anthropic accepts, and the original names. */
function withPlainNames(schema: JsonObject): { schema: JsonObject; names: Map<string, string> } {
  const names = new Map<string, string>();
  const { properties, required } = schema;
  const given = Object.entries(isObject(properties) ? properties : {});
  const invalidNames = given.filter(([name]) => !ARGUMENT_NAME.test(name)).map(([name]) => name);
  if (invalidNames.length === 0) return { schema, names };
  const taken = new Set(given.map(([name]) => name));
  const plain = new Map<string, string>();
  for (const name of invalidNames) {
    const wanted = name.replace(/[^a-zA-Z0-9_.-]/g, '_').slice(0, 60) || '_';
    let free = wanted;
    for (let number = 2; taken.has(free); number++) free = `${wanted}_${number}`;
    taken.add(free);
    plain.set(name, free);
    names.set(free, name);
  }
  const nameOf = (name: Json): Json => (typeof name === 'string' ? (plain.get(name) ?? name) : name);
  return {
    schema: {
      ...schema,
      properties: Object.fromEntries(given.map(([name, value]) => [plain.get(name) ?? name, value])),
      ...(Array.isArray(required) ? { required: required.map(nameOf) } : {}),
    },
    names,
  };
}
