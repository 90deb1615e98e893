import { isObject, type Json, type JsonObject } from '../json.ts';

/**
 * Whether OpenAI's strict mode takes a schema: every object names all its properties as required and allows no others. Any other
 * schema it would refuse, so that it is sent as a wish; what comes is checked either way.
 */
export function isStrictSchema(schema: Json): boolean {
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

/** The instructions with the schema in them, for servers of which some take no schema in the request. */
export function schemaInstruction(system: string | undefined, schema: JsonObject): string {
  const demand = `Answer with JSON alone, without a code fence, that fulfils this JSON Schema:\n${JSON.stringify(schema)}`;
  return system === undefined || system === '' ? demand : `${system}\n\n${demand}`;
}

/** JSON, also within the code fence that small models put around it; undefined for anything else. */
export function parseObject(text: string): { value: Json } | undefined {
  const trimmed = text.trim();
  const fenced = trimmed.startsWith('```') && trimmed.endsWith('```') && trimmed.includes('\n');
  const body = fenced ? trimmed.slice(trimmed.indexOf('\n') + 1, -3) : trimmed;
  try {
    return { value: JSON.parse(body) };
  } catch {
    return undefined;
  }
}
