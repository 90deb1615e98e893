import type { ErrorDetail } from '../../platform/errors.ts';
import { isObject, isTexts } from '../../platform/json.ts';
import { SchemaReader } from '../../platform/json-schema/expand.ts';
import { isEnforcedFormat } from '../../platform/json-schema/formats.ts';
import { endlessSchema, References, subschemasOf } from '../../platform/json-schema/references.ts';
import type { CompilePattern } from '../../platform/json-schema/settings.ts';
import { SchemaValidator } from '../../platform/json-schema/validator.ts';
import { isNumeric, quoteValue } from '../../platform/json-schema/value.ts';
import type { Finding } from '../../platform/json-schema/words.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import { compilePattern, MAX_PATTERN_CHARACTERS, patternSize } from '../languages/pattern.ts';
import type { StepProblem } from '../ports/step-type.ts';

/**
 * Forms of human tasks, schemas of model answers, and the input schema of a workflow: a JSON Schema (2020-12) of an
 * object, as libraries emit it. Whatever could make a form slow or endless is refused or limited: patterns run on re2js
 * in linear time, a `$ref` stays within the schema, formats look at 2,000 characters at most, and the work of a check
 * is limited.
 */
export const MAX_FORM_LENGTH = 64 * 1024;
/** Maximum units of SchemaValidator: ~100 ms at worst. */
const MAX_WORK = 1_000_000;
const MAX_UNIQUE_ITEMS = 500;
const MAX_DEPTH = 20;
/** Maximum instructions of all patterns of a form together: up to 30 ms to compile. */
const MAX_PATTERNS_SIZE = 3_200;
const MAX_PROBLEMS = 20;
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_PATH_LENGTH = 500;

const SCHEMAS = new Set([
  'contains',
  'additionalProperties',
  'additionalItems',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);
const SCHEMA_LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SCHEMA_MAPS = new Set(['properties', 'dependentSchemas', '$defs', 'definitions', 'components']);
const NUMBERS = new Set(['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum']);
const COUNTS = new Set([
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'maxContains',
  'minContains',
]);
const FLAGS = new Set(['uniqueItems', 'readOnly', 'writeOnly', 'deprecated', 'nullable']);
const TEXTS = new Set([
  'title',
  'description',
  '$comment',
  '$schema',
  '$id',
  '$anchor',
  'id',
  'format',
  'contentEncoding',
  'contentMediaType',
]);
/**
 * Annotations, which libraries emit and which refuse no value. OpenAPI's `discriminator` only names the field that
 * distinguishes the alternatives.
 */
const ANNOTATIONS = new Set([
  'const',
  'default',
  'example',
  'examples',
  'discriminator',
  'externalDocs',
  'xml',
  'contentSchema',
  'propertyOrdering',
]);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const isExclusive = (keyword: string): boolean => keyword.startsWith('exclusive');

/** Returns the problem of one keyword, or undefined. The schemas in the keyword's value are checked separately. */
function keywordProblem(keyword: string, value: JsonValue, schema: JsonMap): string | undefined {
  if (SCHEMAS.has(keyword)) return undefined;
  if (SCHEMA_LISTS.has(keyword)) return Array.isArray(value) ? undefined : 'must be an array of schemas';
  if (SCHEMA_MAPS.has(keyword)) return isObject(value) ? undefined : 'must be an object of schemas';
  if (NUMBERS.has(keyword)) {
    const isFlag = typeof value === 'boolean' && isExclusive(keyword);
    return isNumeric(value) || isFlag ? undefined : 'must be a number';
  }
  if (COUNTS.has(keyword)) return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number';
  if (FLAGS.has(keyword)) return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (TEXTS.has(keyword)) return typeof value === 'string' ? undefined : 'must be a string';
  if (ANNOTATIONS.has(keyword)) return undefined;
  switch (keyword) {
    case 'type': {
      const names = Array.isArray(value) ? value : [value];
      return names.length > 0 && names.every(name => typeof name === 'string' && TYPES.has(name))
        ? undefined
        : `must be one or more of ${[...TYPES].join(', ')}`;
    }
    case 'items':
    case '$ref':
      // Checked where the reference leads.
      return undefined;
    case 'enum':
      return Array.isArray(value) ? undefined : 'must be an array';
    case 'required':
      return isTexts(value) ? undefined : 'must be an array of names';
    case 'pattern':
      return patternProblem(value, schema);
    case 'dependentRequired':
      return isObject(value) && Object.values(value).every(isTexts)
        ? undefined
        : 'must be an object of arrays of names';
    case 'dependencies':
      return isObject(value) && Object.values(value).every(item => !Array.isArray(item) || isTexts(item))
        ? undefined
        : 'must be an object of schemas or arrays of names';
    default:
      // `x-…` and other annotations of form renderers are allowed wherever they cannot change the meaning.
      return keyword.startsWith('x-') ? undefined : 'is not a keyword that can be used here';
  }
}

/** A pattern with look-around (zod emits some) adds nothing to a format that is enforced: the format decides. */
function patternProblem(value: JsonValue, { format }: JsonMap): string | undefined {
  if (typeof value === 'string' && (compilePattern(value) || isEnforcedFormat(format))) return undefined;
  return 'must be a regular expression in RE2 syntax (no look-around, no back-references)';
}

/** Collects the problems of a form: of each schema in it, and of the targets of its references. */
class FormCheck {
  readonly problems: StepProblem[] = [];
  readonly #field: string;
  readonly #references: References;
  readonly #visited = new Map<JsonValue, string>();
  readonly #patterns = new Set<string>();
  readonly #targets: { target: JsonValue; path: string; depth: number }[] = [];
  #patternsSize = 0;

  constructor(form: JsonMap, field: string) {
    this.#field = field;
    this.#references = new References(form);
    this.#visit(form, field, 0);
    // Visited after the schemas in their own places, so that these keep their own paths.
    for (const { target, path, depth } of this.#targets) this.#visit(target, path, depth);
    const endless = endlessSchema(form, this.#references);
    if (endless !== undefined) {
      const path = this.#visited.get(endless) ?? field;
      this.#report(endless.$ref === undefined ? path : `${path}.$ref`, 'refers to itself without end');
    }
    const { type } = new SchemaReader(form).expand(form).schema;
    if (type !== undefined && type !== 'object') {
      this.#report(`${field}.type`, 'it describes an object: type must be "object"');
    }
  }

  #report(path: string, message: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ path, code: `${this.#field}_invalid`, message });
  }

  #visit(schema: JsonValue, path: string, depth: number): void {
    if (typeof schema === 'boolean' && depth > 0) return;
    if (!isObject(schema) || depth > MAX_DEPTH) {
      const isDeep = depth > MAX_DEPTH;
      this.#report(
        path,
        isDeep ? `is nested too deeply (at most ${MAX_DEPTH} levels)` : 'must be a JSON Schema object',
      );
      return;
    }
    if (this.#visited.has(schema)) return;
    this.#visited.set(schema, path);
    for (const [keyword, value] of Object.entries(schema)) {
      const problem = this.#patternsProblem(keyword, value) ?? keywordProblem(keyword, value, schema);
      if (problem) this.#report(`${path}.${keyword}`, `${keyword} ${problem}`);
    }
    for (const inner of subschemasOf(schema)) this.#visit(inner.schema, `${path}.${inner.place}`, depth + 1);
    if (schema.$ref !== undefined) this.#reference(schema, `${path}.$ref`, depth);
  }

  #reference(schema: JsonMap, path: string, depth: number): void {
    const target = this.#references.resolve(schema);
    const name = quoteValue(schema.$ref ?? null, 100);
    switch (target.kind) {
      case 'schema':
        this.#targets.push({ target: target.schema, path, depth: depth + 1 });
        return;
      case 'external':
        this.#report(path, `$ref ${name} is another document: copy it into $defs, since nothing is fetched`);
        return;
      case 'missing':
        this.#report(path, `$ref ${name} leads to no schema in this document`);
    }
  }

  /** Counts each pattern once: libraries repeat those of dates and other common formats. */
  #patternsProblem(keyword: string, value: JsonValue): string | undefined {
    if (keyword !== 'pattern' || typeof value !== 'string' || value.length > MAX_PATTERN_CHARACTERS) return undefined;
    if (!this.#patterns.has(value)) this.#patternsSize += patternSize(value);
    this.#patterns.add(value);
    return this.#patternsSize > MAX_PATTERNS_SIZE ? 'makes the patterns of this form too large' : undefined;
  }
}

/**
 * Returns the problems of a form, as problems of the step; empty if the form is valid. `field` is the name of the
 * form's field, for paths and codes.
 */
export function checkForm(form: JsonMap, field = 'form'): StepProblem[] {
  if (JSON.stringify(form).length > MAX_FORM_LENGTH) {
    return [{ path: field, code: `${field}_too_large`, message: `must not exceed ${MAX_FORM_LENGTH} characters` }];
  }
  return new FormCheck(form, field).problems;
}

/** Patterns of users run on re2js, in time linear in the text. */
const patterns: CompilePattern = source => {
  const compiled = compilePattern(source);
  return compiled === undefined
    ? undefined
    : { test: text => compiled.matcher(text).find(), cost: patternSize(source) };
};

const validators = new WeakMap<JsonMap, SchemaValidator>();

function validatorOf(schema: JsonMap): SchemaValidator {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const validator = new SchemaValidator(schema, { patterns, formats: true, maxUniqueItems: MAX_UNIQUE_ITEMS });
  validators.set(schema, validator);
  return validator;
}

/** Returns a validator for a schema from a third party. Its formats are annotations. */
export function createLenientValidator(schema: JsonMap): SchemaValidator {
  return new SchemaValidator(schema, { patterns, formats: false });
}

/** Returns the path of a finding, such as `<root>.a[0].b`. */
function detailPath(path: Finding['path'], root: string): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), root);
}

/** Returns findings as the `details` of a 422, with paths that start with `root`. */
export function describeFindings(findings: readonly Finding[], root: string): ErrorDetail[] {
  return findings.map(({ path, message, keyword }) => ({
    path: detailPath(path, root).slice(0, MAX_PATH_LENGTH),
    message: message.slice(0, MAX_MESSAGE_LENGTH),
    // Clients know pattern errors by this code: patterns were once formats.
    code: keyword === 'pattern' ? 'format' : keyword,
  }));
}

/**
 * Checks the `result` of a human task against its form, or another object against its schema. Returns the problems as
 * the `details` of a 422, with paths that start with `root`; empty if the object is valid. The form must have passed
 * `checkForm`.
 */
export function validateForm(form: JsonMap, result: JsonMap, root = 'result'): ErrorDetail[] {
  const findings = validatorOf(form).check(result, MAX_WORK);
  if (findings !== undefined) return describeFindings(findings, root);
  return [{ path: root, message: 'is too large for this form', code: `${root}_too_large` }];
}
