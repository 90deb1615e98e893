import { isObject } from '../../platform/json.ts';
import { SchemaReader } from '../../platform/json-schema/expand.ts';
import { type JsonMap, type JsonValue, MAX_SEARCHABLE_FIELDS, SEARCHABLE_NAME } from '../core/index.ts';
import { parseTemplate, type Reference, readsItem, TemplateSyntaxError } from '../languages/templates.ts';

/** A value by which a run can be found: the input or the result of a step, at a path. */
export type SearchableField = { name: string; reference: Reference };

/** Why a field cannot be searchable. */
export type SearchableProblem = { name: string; code: string; message: string };

const ONE_TEMPLATE = 'must be one template, such as "{{input.order.id}}" or "{{steps.ticket.result.number}}"';

/** Returns the field, or the reason why it cannot be searchable. */
export function readSearchable(name: string, value: JsonValue | undefined): SearchableField | SearchableProblem {
  const refuse = (code: string, message: string): SearchableProblem => ({ name: name.slice(0, 80), code, message });
  if (!SEARCHABLE_NAME.test(name)) {
    const message = 'a name begins with a letter or _, and has up to 64 letters, digits, _ and -';
    return refuse('invalid_field', message);
  }
  if (typeof value !== 'string') return refuse('invalid_field', ONE_TEMPLATE);
  try {
    const { whole } = parseTemplate(value);
    if (whole === null || whole.error === true) return refuse('invalid_field', ONE_TEMPLATE);
    if (whole.or !== undefined) return refuse('invalid_field', 'reads one path: it cannot have another one behind ??');
    if (readsItem(whole)) return refuse('invalid_field', 'cannot read the item of a loop');
    return { name, reference: whole };
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    return refuse('template_malformed', error.message);
  }
}

/** Returns the searchable fields of a published graph. Fields that publishing would refuse are left out. */
export function searchableFields(searchable: JsonMap): readonly SearchableField[] {
  return Object.entries(searchable)
    .map(([name, value]) => readSearchable(name, value))
    .filter(field => 'reference' in field)
    .slice(0, MAX_SEARCHABLE_FIELDS);
}

/** Returns whether the input schema has `writeOnly` for the value at a path or for a value that contains it. */
export function isSecretInput(schema: JsonValue | undefined, path: Reference['path']): boolean {
  return isObject(schema) && isSecretAt(schema, path, { reader: new SchemaReader(schema), seen: new Set() });
}

/** `seen`: the schemas already visited for this value, since alternatives may refer to each other in a circle. */
function isSecretAt(
  written: JsonValue | undefined,
  path: Reference['path'],
  { reader, seen }: { reader: SchemaReader; seen: Set<JsonValue> },
): boolean {
  const { schema, node } = reader.expand(written);
  if (schema.writeOnly === true) return true;
  if (seen.has(node)) return false;
  seen.add(node);
  const alternatives = ['allOf', 'anyOf', 'oneOf'].flatMap(keyword => schema[keyword] ?? []);
  if (alternatives.some(one => isSecretAt(one, path, { reader, seen }))) return true;
  const [key, ...rest] = path;
  if (key === undefined) return false;
  const inner =
    typeof key === 'number' ? schema.items : isObject(schema.properties) ? schema.properties[key] : undefined;
  return isSecretAt(inner, rest, { reader, seen: new Set() });
}
