import fc from 'fast-check';
import { isObject } from '../platform/json.ts';

/** Draws values from the schemas of the API's own description, like a client that knows nothing else. */
export type Schema = { [keyword: string]: unknown };
type Values = fc.Arbitrary<unknown>;

const isSchema = (value: unknown): value is Schema => isObject(value);
const numberIn = (schema: Schema, keyword: string): number | undefined => {
  const value = schema[keyword];
  return typeof value === 'number' ? value : undefined;
};

/** Names that a careless server confuses with its own. */
const oddKeys = ['__proto__', 'constructor', 'toString', '', 'a.b', '$ref', 'käse', '0'];
const oddTexts = [
  'a',
  ' a ',
  '0',
  'null',
  '{{input.x}}',
  "'; --",
  '<b>',
  '\u202e',
  '\u{1f600}',
  'é'.repeat(30),
  '%00',
  '../..',
];
/** Hosts that answer immediately, if only with an error: no test queries a name server. */
const urls = [
  'http://127.0.0.1:9/v1',
  'http://10.0.0.1/',
  'http://[::1]:9/mcp?x=1',
  'http://169.254.169.254/latest',
  'https://user:secret@127.0.0.1/',
  'https://127.0.0.1/a b#c',
];
const times = [
  '2026-01-01T00:00:00Z',
  '2026-02-28T23:59:59.999999+00:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
];

/** Defines each key, so that `__proto__` is an ordinary one. */
const fromEntries = (entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries);

/** A JSON value that nothing describes. */
const anyJson: Values = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(null, true, 0, -0, 1.5, 2 ** 53 - 1, -1e308),
    fc.constantFrom(...oddTexts),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...oddKeys), tie('value')), { maxLength: 3 }).map(fromEntries),
  ),
})).value;

export class RequestDraws {
  readonly #document: Schema;
  /** The references that are being resolved, outermost first. */
  readonly #within: string[] = [];
  constructor(document: Schema) {
    this.#document = document;
  }

  /** Returns the schema, resolving it if it is a reference. */
  resolve(schema: Schema): Schema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const target = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, key) => Reflect.get(Object(at), key), this.#document);
    return isSchema(target) ? this.resolve(target) : {};
  }

  /** Returns values that the schema allows; for unlimited sets those at the limits, and odd ones. */
  valid(given: Schema): Values {
    const { $ref } = given;
    const isRecursive = typeof $ref === 'string' && this.#within.includes($ref);
    const schema = isRecursive ? this.#withoutRecursion(this.resolve(given), $ref) : this.resolve(given);
    const examples = Array.isArray(schema.examples) && !isRecursive ? schema.examples : [];
    if (typeof $ref === 'string') this.#within.push($ref);
    const drawn = this.#valid(schema);
    if (typeof $ref === 'string') this.#within.pop();
    return examples.length === 0 ? drawn : fc.oneof(fc.constantFrom(...examples), drawn);
  }

  /** Returns the alternatives of a recursive schema that do not contain it: the steps of a loop have no loops. */
  #withoutRecursion(schema: Schema, ref: string): Schema {
    const leaves = (alternatives: unknown) =>
      Array.isArray(alternatives)
        ? alternatives.filter(isSchema).filter(each => !JSON.stringify(this.resolve(each)).includes(`"${ref}"`))
        : undefined;
    const { anyOf, oneOf, ...rest } = schema;
    return { ...rest, ...(anyOf ? { anyOf: leaves(anyOf) } : {}), ...(oneOf ? { oneOf: leaves(oneOf) } : {}) };
  }

  #valid(schema: Schema): Values {
    if ('const' in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
    const alternatives = schema.anyOf ?? (schema.type === undefined ? schema.oneOf : undefined);
    if (Array.isArray(alternatives)) return fc.oneof(...alternatives.filter(isSchema).map(each => this.valid(each)));
    switch (schema.type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number':
        return numbers(schema);
      case 'string':
        return texts(schema);
      case 'array':
        return fc.array(this.valid(isSchema(schema.items) ? schema.items : {}), {
          minLength: numberIn(schema, 'minItems') ?? 0,
          maxLength: Math.min(3, numberIn(schema, 'maxItems') ?? 3),
        });
      case 'object':
        return this.#objects(schema);
      default:
        return anyJson;
    }
  }

  #objects(schema: Schema): Values {
    const { oneOf, not: _, ...rest } = schema;
    if (Array.isArray(oneOf))
      return fc.oneof(...oneOf.filter(isSchema).map(each => this.#objects(alternative(rest, each))));
    const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {});
    const required = Array.isArray(schema.required) ? schema.required : [];
    const known = properties.map(([name, value]) => {
      const present = this.valid(isSchema(value) ? value : {}).map(drawn => [[name, drawn] as const]);
      return required.includes(name) ? present : fc.oneof(fc.constant([]), present);
    });
    const others = schema.additionalProperties ?? {};
    const free = isSchema(others) ? freeFields(schema, this.valid(others)) : fc.constant([]);
    return fc.tuple(free, ...known).map(parts => fromEntries(parts.flat() as (readonly [string, unknown])[]));
  }

  /** Returns values that violate one constraint of the schema; null if none can be derived. */
  invalid(given: Schema): Values | null {
    const schema = this.resolve(given);
    const values: unknown[] = [];
    const [min, max, longest] = [
      numberIn(schema, 'minimum'),
      numberIn(schema, 'maximum'),
      numberIn(schema, 'maxLength'),
    ];
    switch (schema.type) {
      case 'integer':
        values.push(1.5, 2 ** 53, 'x', '');
        if (min !== undefined) values.push(min - 1);
        if (max !== undefined) values.push(max + 1);
        break;
      case 'boolean':
        values.push('perhaps', 2);
        break;
      case 'string':
        if (Array.isArray(schema.enum)) values.push('no such choice', '');
        if (schema.format === 'date-time') values.push('yesterday', '2026-02-30T00:00:00Z', '2026-01-01');
        if (schema.format === 'uuid') values.push('no-uuid', '0198c0de');
        if (longest !== undefined && longest <= 20_000) values.push('x'.repeat(longest + 1));
        if ((numberIn(schema, 'minLength') ?? 0) > 0) values.push('');
        if (schema.pattern === '\\S') values.push('', '   ');
        break;
      case 'object':
        values.push([], 5, 'x');
        break;
      case 'array':
        values.push({}, 5);
        break;
    }
    return values.length === 0 ? null : fc.constantFrom(...values);
  }
}

/** Returns the object in one of its alternatives: with the fields that it requires and narrows, and no others if it allows no more. */
function alternative(schema: Schema, { required, maxProperties, not, propertyNames, properties: own }: Schema): Schema {
  const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {});
  const always = Array.isArray(schema.required) ? schema.required : [];
  const wanted = [...always, ...(Array.isArray(required) ? required : [])];
  const barred = isSchema(not) && Array.isArray(not.required) ? not.required : [];
  const alone = maxProperties === wanted.length;
  const names = isSchema(propertyNames) && Array.isArray(propertyNames.enum) ? propertyNames.enum : null;
  const isAllowed = (name: string) => !barred.includes(name) && (names === null || names.includes(name));
  const kept = properties.filter(([name]) => isAllowed(name) && (!alone || wanted.includes(name)));
  const narrowed = isSchema(own) ? own : {};
  return {
    ...schema,
    required: wanted,
    properties: Object.fromEntries(kept.map(([name, value]) => [name, narrowed[name] ?? value])),
  };
}

/** Returns fields that the schema does not name, under odd keys if it permits any. */
function freeFields(schema: Schema, values: Values): fc.Arbitrary<[string, unknown][]> {
  const { propertyNames } = schema;
  const pattern = isSchema(propertyNames) && typeof propertyNames.pattern === 'string' ? propertyNames.pattern : null;
  const keys = pattern === null ? fc.constantFrom(...oddKeys) : fc.stringMatching(new RegExp(pattern));
  const minLength = Math.min(2, numberIn(schema, 'minProperties') ?? 0);
  return fc.uniqueArray(fc.tuple(keys, values), { minLength, maxLength: 2, selector: ([key]) => key });
}

function numbers(schema: Schema): Values {
  const min = numberIn(schema, 'minimum') ?? -(2 ** 31);
  const max = numberIn(schema, 'maximum') ?? 2 ** 31 - 1;
  // The limits of columns, which the schema may not mention.
  const borders = [min, max, 0, 2 ** 15, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 10 ** 15 - 1].filter(
    at => at >= min && at <= max,
  );
  // The limits of a number may be fractions.
  const [first, last] = [Math.ceil(min), Math.floor(max)];
  return fc.oneof(
    fc.constantFrom(...borders),
    fc.integer({ min: first, max: Math.min(last, first + 5) }),
    fc.integer({ min: first, max: last }),
  );
}

function texts(schema: Schema): Values {
  if (schema.format === 'uuid') return fc.uuid({ version: 7 });
  if (schema.format === 'date-time') return fc.constantFrom(...times);
  if (schema.format === 'uri') return fc.constantFrom(...urls);
  const min = numberIn(schema, 'minLength') ?? 0;
  const max = numberIn(schema, 'maxLength') ?? 1000;
  const isLengthValid = (text: string) => text.length >= min && text.length <= max;
  const { pattern } = schema;
  const { allOf } = schema;
  if (Array.isArray(allOf)) {
    const patterns = allOf.filter(isSchema).map(each => new RegExp(String(each.pattern)));
    return fc.emailAddress().filter(text => isLengthValid(text) && patterns.every(each => each.test(text)));
  }
  if (pattern === '\\S')
    return fc.constantFrom(...oddTexts, 'x'.repeat(max)).filter(text => isLengthValid(text) && text.trim() !== '');
  if (typeof pattern === 'string') {
    return fc.stringMatching(new RegExp(pattern)).filter(isLengthValid);
  }
  const longest = 'x'.repeat(Math.min(max, 20_000));
  return fc.oneof(
    fc.constantFrom(...oddTexts, '', longest).filter(isLengthValid),
    fc.string({ minLength: min, maxLength: Math.min(max, min + 20) }),
  );
}
