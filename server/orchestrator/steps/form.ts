import { format as formats, type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import type { RE2JS } from 're2js';
import type { StepProblem } from '../../contract/step-type.ts';
import type { ErrorDetail } from '../../platform/errors.ts';
import { isObject } from '../../platform/json.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import { formWork } from './form-work.ts';
import { compilePattern, MAX_PATTERN_CHARACTERS, patternSize } from './pattern.ts';

/**
 * Forms of human tasks, what a model's answer must be, and the input of a workflow: a JSON Schema (2020-12) of an object. @cfworker/json-schema interprets it (no code generation).
 * What could make a form slow or endless is refused or replaced: patterns run on re2js in linear time, `$ref` and
 * `patternProperties` are not taken, formats look at 2,000 characters at most.
 */
export const MAX_FORM_LENGTH = 64 * 1024;
const MAX_FORMATTED_LENGTH = 2_000;
/** Units of form-work.ts: ~100 ms at worst. */
const MAX_WORK = 1_000_000;
/** Up to this size all problems are reported; above it only the first one, since each keeps its text in memory. */
const MAX_FULL_REPORT_WORK = 50_000;
/** uniqueItems compares every pair. */
const MAX_UNIQUE_ITEMS = 500;
/** Instructions of all patterns of a form: up to 30 ms to compile. */
const MAX_PATTERNS_SIZE = 3_200;
/** Characters of a value as a problem names it. */
const MAX_EXPECTATION_LENGTH = 200;
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_PATH_LENGTH = 500;

const schemaIn = new Set(['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else']);
const schemaListIn = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const schemaMapIn = new Set(['properties', 'dependentSchemas']);
const numberIn = new Set(['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum']);
const countIn = new Set([
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
  'maxContains',
  'minContains',
]);
const booleanIn = new Set(['uniqueItems', 'readOnly', 'writeOnly', 'deprecated']);
const textIn = new Set(['title', 'description', '$comment', '$schema', '$id', 'contentEncoding', 'contentMediaType']);
const anyIn = new Set(['const', 'default', 'examples']);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const KNOWN_FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uuid',
] as const;

// Registered once under names of our own: the library's formats are backtracking expressions, harmless on short texts only.
for (const name of KNOWN_FORMATS) {
  const judge = formats[name];
  if (judge) formats[`bounded ${name}`] = text => text.length <= MAX_FORMATTED_LENGTH && judge(text);
}
// The library's own expression for `url` is exponential.
formats['bounded url'] = text => text.length <= MAX_FORMATTED_LENGTH && URL.canParse(text);

const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(item => typeof item === 'string');

/** Returns what is wrong with one keyword, or undefined. */
function keywordProblem(keyword: string, value: JsonValue): string | undefined {
  if (numberIn.has(keyword)) return typeof value === 'number' ? undefined : 'must be a number';
  if (countIn.has(keyword)) return Number.isInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number';
  if (booleanIn.has(keyword)) return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (textIn.has(keyword)) return typeof value === 'string' ? undefined : 'must be a string';
  if (anyIn.has(keyword)) return undefined;
  switch (keyword) {
    case 'type': {
      const names = Array.isArray(value) ? value : [value];
      return names.length > 0 && names.every(name => typeof name === 'string' && TYPES.has(name))
        ? undefined
        : `must be one or more of ${[...TYPES].join(', ')}`;
    }
    case 'enum':
      return Array.isArray(value) ? undefined : 'must be an array';
    case 'required':
      return isTexts(value) ? undefined : 'must be an array of names';
    case 'format':
      return typeof value === 'string' ? undefined : 'must be a string';
    case 'pattern':
      return typeof value === 'string' && compilePattern(value)
        ? undefined
        : 'must be a regular expression in RE2 syntax (no look-around, no back-references)';
    case 'dependentRequired':
      return isObject(value) && Object.values(value).every(isTexts)
        ? undefined
        : 'must be an object of arrays of names';
    default:
      // `x-…` and other annotations of form renderers are welcome where they cannot change the meaning.
      return keyword.startsWith('x-') ? undefined : 'is not a keyword that can be used here';
  }
}

function subschemas(keyword: string, value: JsonValue): [string, JsonValue][] | undefined {
  if (schemaIn.has(keyword)) return [['', value]];
  if (schemaListIn.has(keyword))
    return Array.isArray(value) ? value.map((item, index) => [`[${index}]`, item]) : [['', '']];
  if (schemaMapIn.has(keyword))
    return isObject(value) ? Object.entries(value).map(([name, item]) => [`.${name}`, item]) : [['', '']];
  return undefined;
}

/**
 * Returns the problems of a form, as problems of the step; empty if it can be used. `field` is its place, for paths and
 * codes.
 */
export function checkForm(form: JsonMap, field = 'form'): StepProblem[] {
  const problems: StepProblem[] = [];
  if (JSON.stringify(form).length > MAX_FORM_LENGTH) {
    return [{ path: field, code: `${field}_too_large`, message: `must not exceed ${MAX_FORM_LENGTH} characters` }];
  }
  let patternsSize = 0;
  const visit = (schema: JsonValue, path: string, depth: number): void => {
    const report = (message: string, at = path): void => {
      if (problems.length < 20) problems.push({ path: at, code: `${field}_invalid`, message });
    };
    if (typeof schema === 'boolean' && depth > 0) return;
    if (!isObject(schema) || depth > 20) {
      report(depth > 20 ? 'is nested too deeply (at most 20 levels)' : 'must be a JSON Schema object');
      return;
    }
    for (const [keyword, value] of Object.entries(schema)) {
      const inner = subschemas(keyword, value);
      if (inner) for (const [suffix, item] of inner) visit(item, `${path}.${keyword}${suffix}`, depth + 1);
      else {
        if (keyword === 'pattern' && typeof value === 'string' && value.length <= MAX_PATTERN_CHARACTERS) {
          patternsSize += patternSize(value);
        }
        const isTooMuch = keyword === 'pattern' && patternsSize > MAX_PATTERNS_SIZE;
        const problem = isTooMuch ? 'makes the patterns of this form too large' : keywordProblem(keyword, value);
        if (problem) report(`${keyword} ${problem}`, `${path}.${keyword}`);
      }
    }
  };
  visit(form, field, 0);
  if (form.type !== undefined && form.type !== 'object') {
    problems.push({
      path: `${field}.type`,
      code: `${field}_invalid`,
      message: 'it describes an object: type must be "object"',
    });
  }
  return problems;
}

type Prepared = {
  /** Finds everything that is wrong. */
  full: Validator;
  /** Stops at the first problem. */
  quick: Validator;
  patterns: ReadonlyMap<string, RE2JS>;
};

/** The same values under a shorter name: a problem quotes all of them, for each item that matches none. */
function quotedShort(values: JsonValue[]): JsonValue[] {
  const text = JSON.stringify(values);
  if (text.length <= MAX_EXPECTATION_LENGTH) return values;
  return Object.defineProperty([...values], 'toJSON', { value: () => `${text.slice(0, MAX_EXPECTATION_LENGTH)}…` });
}

/** Runs `validate` while the library knows these patterns: it looks formats up in one table, and validation is synchronous. */
export function withPatterns<T>(patterns: ReadonlyMap<string, RE2JS>, validate: () => T): T {
  for (const [name, pattern] of patterns) formats[name] = text => pattern.matcher(text).find();
  try {
    return validate();
  } finally {
    for (const name of patterns.keys()) delete formats[name];
  }
}

/** The same schema with patterns and formats behind names of our own. */
function prepare(form: JsonMap): Prepared {
  const patterns = new Map<string, RE2JS>();
  const rewrite = (schema: JsonValue): JsonValue => {
    if (!isObject(schema)) return schema;
    const out: JsonMap = {};
    const extra: JsonValue[] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'pattern' && typeof value === 'string') {
        const compiled = compilePattern(value);
        if (compiled) patterns.set(`pattern ${value}`, compiled);
        extra.push({ format: `pattern ${value}` });
      } else if (keyword === 'format' && typeof value === 'string') {
        if (Object.hasOwn(formats, `bounded ${value}`)) extra.push({ format: `bounded ${value}` });
      } else if (keyword === 'enum' && Array.isArray(value)) out.enum = quotedShort(value);
      else if (keyword === 'const' && JSON.stringify(value).length > MAX_EXPECTATION_LENGTH) {
        extra.push({ enum: quotedShort([value]) });
      } else if (schemaIn.has(keyword)) out[keyword] = rewrite(value);
      else if (schemaListIn.has(keyword) && Array.isArray(value)) out[keyword] = value.map(rewrite);
      else if (schemaMapIn.has(keyword) && isObject(value)) {
        out[keyword] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item)]));
      } else if (keyword !== '$id' && keyword !== '$schema') out[keyword] = value;
    }
    if (out.uniqueItems === true)
      out.maxItems = Math.min(typeof out.maxItems === 'number' ? out.maxItems : MAX_UNIQUE_ITEMS, MAX_UNIQUE_ITEMS);
    if (extra.length > 0) out.allOf = [...(Array.isArray(out.allOf) ? out.allOf : []), ...extra];
    return out;
  };
  const schema = rewrite(form);
  return {
    full: new Validator(schema as Schema, '2020-12', false),
    quick: new Validator(schema as Schema, '2020-12', true),
    patterns,
  };
}

const prepared = new WeakMap<JsonMap, Prepared>();

/** `#/a/0/b` → `<root>.a[0].b`. */
function detailPath(location: string, root: string): string {
  let path = root;
  for (const part of location.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    path += /^\d+$/.test(name) ? `[${name}]` : `.${name}`;
  }
  return path;
}

const UNHELPFUL = new Set([
  '$ref',
  'properties',
  'items',
  'prefixItems',
  'allOf',
  'additionalProperties',
  'then',
  'else',
  'if',
]);

function readable(keyword: string, error: string): string {
  if (keyword !== 'format') return error;
  const name = /"(bounded|pattern) (.*)"\.$/s.exec(error);
  if (!name) return error;
  return name[1] === 'pattern' ? `String does not match pattern ${name[2]}.` : `String is not a valid ${name[2]}.`;
}

/** The validator's findings, in the form of a 422's `details`, with paths that start with `root`. */
export function describeErrors(errors: readonly OutputUnit[], root: string): ErrorDetail[] {
  const telling = errors.filter(error => !UNHELPFUL.has(error.keyword));
  return (telling.length > 0 ? telling : errors).slice(0, 50).map(error => ({
    path: detailPath(error.instanceLocation, root).slice(0, MAX_PATH_LENGTH),
    message: readable(error.keyword, error.error).slice(0, MAX_MESSAGE_LENGTH),
    code: error.keyword,
  }));
}

/**
 * Checks the `result` of a human task against its form, or another object against its schema: what is wrong, in the terms of a 422's
 * `details`, with paths that start with `root`; empty where it fits. The form must have passed `checkForm`.
 */
export function validateForm(form: JsonMap, result: JsonMap, root = 'result'): ErrorDetail[] {
  const work = formWork(form, result, MAX_WORK);
  if (work === undefined) return [tooLarge(root)];
  let ready = prepared.get(form);
  if (!ready) {
    ready = prepare(form);
    prepared.set(form, ready);
  }
  const { full, quick, patterns } = ready;
  const validator = work > MAX_FULL_REPORT_WORK ? quick : full;
  try {
    const outcome = withPatterns(patterns, () => validator.validate(result));
    return outcome.valid ? [] : describeErrors(outcome.errors, root);
  } catch (error) {
    // The validator passes its problems on as arguments of one call: there can be too many of them.
    if (error instanceof RangeError) return [tooLarge(root)];
    throw error;
  }
}

const tooLarge = (root: string): ErrorDetail => ({
  path: root,
  message: 'is too large for this form',
  code: `${root}_too_large`,
});
