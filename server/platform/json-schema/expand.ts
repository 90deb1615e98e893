import { isObject, type Json, type JsonObject } from '../json.ts';
import { References } from './references.ts';

/** The maximum number of `$ref`s and `allOf`s that are followed to expand a schema: a longer chain is a cycle. */
const MAX_STEPS = 32;

/** The meaning of a schema, without references. `node` is the schema itself, or the one that it refers to. */
export type Expanded = { schema: JsonObject; nullable: boolean; node: JsonObject };

/**
 * Reads the schemas of a document as forms and examples need them: a `$ref` and an `allOf` of one schema are replaced by what they
 * refer to, with the keywords next to them, and every way to allow null (`nullable`, a type or alternative `null`) by `nullable`.
 */
export class SchemaReader {
  readonly #references: References;

  constructor(root: JsonObject) {
    this.#references = new References(root);
  }

  /** Returns a schema without references; an empty one for a boolean, and for a reference that leads nowhere. */
  expand(schema: Json | undefined): Expanded {
    let node: JsonObject = isObject(schema) ? schema : {};
    let merged: JsonObject = {};
    let nullable = false;
    for (let step = 0; step < MAX_STEPS; step++) {
      const { own, next, allowsNull } = this.#step(node);
      // A title or default next to a reference takes precedence: it describes this use of the referenced schema.
      merged = { ...own, ...merged };
      nullable ||= allowsNull;
      if (next === undefined) break;
      node = next;
    }
    return { schema: merged, nullable, node };
  }

  #step(node: JsonObject): { own: JsonObject; next: JsonObject | undefined; allowsNull: boolean } {
    const { $ref, allOf, nullable, $defs: _, definitions: __, ...rest } = node;
    const isNullable = nullable === true;
    if ($ref !== undefined) {
      const target = this.#references.resolve(node);
      const next = target.kind === 'schema' && isObject(target.schema) ? target.schema : undefined;
      return { own: rest, next, allowsNull: isNullable };
    }
    if (Array.isArray(allOf) && allOf.length === 1) {
      return { own: rest, next: isObject(allOf[0]) ? allOf[0] : undefined, allowsNull: isNullable };
    }
    const { own, next, allowsNull } = withoutNull(allOf === undefined ? rest : { ...rest, allOf });
    return { own, next, allowsNull: isNullable || allowsNull };
  }
}

const isNullSchema = (schema: Json): boolean => isObject(schema) && (schema.type === 'null' || schema.const === null);

/** Takes null out of the types, choices and alternatives of a schema. */
function withoutNull(schema: JsonObject): { own: JsonObject; next: JsonObject | undefined; allowsNull: boolean } {
  const { type, enum: choices } = schema;
  const own = { ...schema };
  let allowsNull = false;
  if (Array.isArray(type) && type.includes('null')) {
    const types = type.filter(one => one !== 'null');
    own.type = types.length === 1 ? (types[0] ?? 'null') : types;
    allowsNull = true;
  }
  if (Array.isArray(choices) && choices.includes(null) && choices.length > 1) {
    own.enum = choices.filter(choice => choice !== null);
    allowsNull = true;
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const list = own[keyword];
    if (!Array.isArray(list) || !list.some(isNullSchema)) continue;
    const rest = list.filter(one => !isNullSchema(one));
    const [only] = rest;
    if (rest.length === 1 && isObject(only)) {
      const { [keyword]: _, ...beside } = own;
      return { own: beside, next: only, allowsNull: true };
    }
    own[keyword] = rest;
    allowsNull = true;
  }
  return { own, next: undefined, allowsNull };
}
