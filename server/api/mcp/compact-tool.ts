import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonMap, JsonValue } from '../../orchestrator/core/index.ts';
import { isObject } from '../../platform/json.ts';

/**
 * The maximum number of characters of a description and of an input schema in `tools/list`, which every conversation with an assistant pays for:
 * compact-tool.test.ts bounds the whole.
 */
const MAX_DESCRIPTION_CHARACTERS = 100;
const MAX_SCHEMA_CHARACTERS = 300;
/**
 * The limits for tools that are workflows, whose texts members of a project wrote: a first sentence, and a schema with the names
 * of all arguments.
 */
const MAX_SENTENCE_CHARACTERS = 300;
const MAX_ARGUMENTS_CHARACTERS = 2_000;

/** The amount of detail in a schema: the length of descriptions, and the depth down to which objects have fields. */
type Detail = { descriptions: number; depth: number };
const DETAILS: readonly Detail[] = [
  { descriptions: 80, depth: 3 },
  { descriptions: 80, depth: 2 },
  { descriptions: 60, depth: 2 },
  { descriptions: 60, depth: 1 },
  { descriptions: 0, depth: 2 },
  { descriptions: 0, depth: 1 },
];
/** The literals of a longer list are left out. */
const MAX_LITERALS_CHARACTERS = 120;

/**
 * Returns a tool as `tools/list` shows it: in short. `describe_tool` and the resource `baton://tools/{name}` hold all of it
 * (docs/specification/mcp.md#the-list-of-tools).
 */
export function compactTool(tool: Tool, brief?: string): Tool {
  const { name, description = '', inputSchema, outputSchema, annotations } = tool;
  const { title: _, ...hints } = annotations ?? {};
  return {
    name,
    description: brief ?? firstSentences(description),
    inputSchema: compactSchema(inputSchema as JsonMap) as Tool['inputSchema'],
    // The output schema tells clients only that the answer is structured.
    ...(outputSchema === undefined ? {} : { outputSchema: { type: 'object' } }),
    annotations: saysIdempotence(hints) ? hints : withoutIdempotence(hints),
  };
}

/** The MCP specification defines the hint only for tools that are not read-only, and its default is false. */
const saysIdempotence = ({ readOnlyHint, idempotentHint }: NonNullable<Tool['annotations']>) =>
  readOnlyHint !== true && idempotentHint === true;
const withoutIdempotence = ({ idempotentHint: _, ...hints }: NonNullable<Tool['annotations']>) => hints;

/** Returns the first sentences, as many as there is room for, and at least one. */
function firstSentences(description: string): string {
  const [paragraph = ''] = description.split('\n\nREST: ');
  const sentences = paragraph.replace(/\s+/g, ' ').split(/(?<=\.) (?=[^a-z])/);
  let text = (sentences[0] ?? '').slice(0, MAX_SENTENCE_CHARACTERS);
  for (const sentence of sentences.slice(1)) {
    if (text.length + sentence.length >= MAX_DESCRIPTION_CHARACTERS) break;
    text += ` ${sentence}`;
  }
  return text;
}

/** Returns the schema with as much detail as there is room for: at least the names and types of all arguments. */
function compactSchema(schema: JsonMap): JsonMap {
  let compact: JsonMap = {};
  for (const detail of DETAILS) {
    compact = { ...shorten(schema, detail, 0), type: 'object' };
    compact.properties ??= {};
    if (JSON.stringify(compact).length <= MAX_SCHEMA_CHARACTERS) break;
  }
  return JSON.stringify(compact).length <= MAX_ARGUMENTS_CHARACTERS ? compact : { type: 'object', properties: {} };
}

function shorten(schema: JsonMap, detail: Detail, depth: number): JsonMap {
  const { type, properties, required, items } = schema;
  const short: JsonMap = {};
  if (type !== undefined) short.type = type;
  if (isObject(properties) && depth < detail.depth) {
    short.properties = Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, shortenMember(each, detail, depth + 1)]),
    );
    if (Array.isArray(required) && required.length > 0) short.required = required;
  }
  // Some clients refuse a list without `items`.
  if (type === 'array') short.items = shortenMember(items ?? {}, detail, depth);
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) Object.assign(short, shortenUnion(union.filter(isObject), detail, depth));
  const literals = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const ?? null] : [];
  if (literals.length > 0 && JSON.stringify(literals).length <= MAX_LITERALS_CHARACTERS) short.enum = literals;
  return short;
}

function shortenMember(schema: JsonValue, detail: Detail, depth: number): JsonValue {
  if (!isObject(schema)) return {};
  const short = shorten(schema, detail, depth);
  const { description } = schema;
  if (typeof description === 'string' && description.length <= detail.descriptions && !isKnown(schema))
    short.description = description;
  else if (hasHiddenFields(schema, short)) short.description = HIDDEN_FIELDS;
  return short;
}

/** Alternatives that say no more than their type become one schema. */
function shortenUnion(branches: JsonMap[], detail: Detail, depth: number): JsonMap {
  const areObjects = branches.length > 0 && branches.every(({ type }) => type === 'object');
  if (areObjects) return { type: 'object' };
  const shorter = branches.map(branch => shorten(branch, detail, Math.max(depth, detail.depth)));
  const types = shorter.flatMap(({ type, enum: literals, items }) =>
    literals === undefined && items === undefined && typeof type === 'string' ? [type] : [],
  );
  if (types.length === shorter.length) {
    const unique = [...new Set(types)];
    return { type: unique.length === 1 ? (unique[0] ?? null) : unique };
  }
  return { anyOf: shorter };
}

const HIDDEN_FIELDS = 'see describe_tool';

/** Returns whether an object has fields that are not shown. Hidden fields of list items are marked on the items. */
function hasHiddenFields({ properties, anyOf, oneOf }: JsonMap, short: JsonMap): boolean {
  const isObjectHere = short.type === 'object' || (Array.isArray(short.type) && short.type.includes('object'));
  return isObjectHere && short.properties === undefined && [properties, anyOf, oneOf].some(each => each !== undefined);
}

/** Returns whether a field's description only repeats its name or type, as the description of every id and instant does. */
function isKnown({ format }: JsonMap): boolean {
  return format === 'uuid' || format === 'date-time';
}
