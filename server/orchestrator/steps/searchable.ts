import { isObject } from '../../platform/json.ts';
import { type JsonMap, type JsonValue, MAX_SEARCHABLE_FIELDS, SEARCHABLE_NAME } from '../core/index.ts';
import { parseTemplate, type Reference, readsItem, TemplateSyntaxError } from './templates.ts';

/** A value of a run that it is found by: the input or the result of a step, at a path. */
export type SearchableField = { name: string; reference: Reference };

/** Why a field cannot be searchable. */
export type SearchableProblem = { name: string; code: string; message: string };

const ONE_TEMPLATE = 'must be one template, such as "{{input.order.id}}" or "{{steps.ticket.result.number}}"';

/** Returns the field, or why it cannot be searchable. */
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

/** Returns the fields of a published graph that can be searched; what publishing would refuse is left out. */
export function searchableFields(searchable: JsonMap): readonly SearchableField[] {
  return Object.entries(searchable)
    .map(([name, value]) => readSearchable(name, value))
    .filter(field => 'reference' in field)
    .slice(0, MAX_SEARCHABLE_FIELDS);
}

/** Whether the schema of the input says `writeOnly` of the value at a path or of a value around it. */
export function isSecretInput(schema: JsonValue | undefined, path: Reference['path']): boolean {
  if (!isObject(schema)) return false;
  if (schema.writeOnly === true) return true;
  const [key, ...rest] = path;
  if (key === undefined) return false;
  if (typeof key === 'number') return isSecretInput(schema.items, rest);
  return isObject(schema.properties) && isSecretInput(schema.properties[key], rest);
}
