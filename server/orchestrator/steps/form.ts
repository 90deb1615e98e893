import { format as formats, type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { RE2JS } from 're2js';
import type { ErrorDetail } from '../../platform/errors.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import type { StepProblem } from './step-type.ts';

/**
 * Forms of human tasks, and what a model's answer must be: a JSON Schema (2020-12) for `result`. @cfworker/json-schema interprets it (no code generation).
 * What could make a form slow or endless is refused or replaced: patterns run on re2js in linear time, `$ref` and
 * `patternProperties` are not taken, formats look at 2,000 characters at most.
 */
const LARGEST_FORM = 64 * 1024;
const LONGEST_FORMATTED = 2_000;
/** Schema nodes × result nodes: ~100 ms of interpreting at worst. */
const MOST_WORK = 2_000_000;
/** uniqueItems compares every pair. */
const MOST_UNIQUE = 500;

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
  if (judge) formats[`bounded ${name}`] = text => text.length <= LONGEST_FORMATTED && judge(text);
}
// The library's own expression for `url` is exponential.
formats['bounded url'] = text => text.length <= LONGEST_FORMATTED && URL.canParse(text);

const isObject = (value: JsonValue | undefined): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isTexts = (value: JsonValue): boolean => Array.isArray(value) && value.every(item => typeof item === 'string');

/** A pattern that takes linear time; undefined where RE2 cannot read it. */
export function compilePattern(source: string): RE2JS | undefined {
  if (source.length > 1_000) return undefined;
  try {
    return RE2JS.compile(source);
  } catch {
    return undefined;
  }
}

/** What is wrong with one keyword, or undefined. */
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

/** What is wrong with a form, as problems of the step; empty where it can be used. `field` is where it stands, for paths and codes. */
export function checkForm(form: JsonMap, field = 'form'): StepProblem[] {
  const problems: StepProblem[] = [];
  if (JSON.stringify(form).length > LARGEST_FORM) {
    return [{ path: field, code: `${field}_too_large`, message: `must not exceed ${LARGEST_FORM} characters` }];
  }
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
        const problem = keywordProblem(keyword, value);
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

type Prepared = { validator: Validator; patterns: ReadonlyMap<string, RE2JS>; nodes: number };

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
  let nodes = 0;
  const rewrite = (schema: JsonValue): JsonValue => {
    if (!isObject(schema)) return schema;
    nodes += 1 + Object.keys(schema).length;
    const out: JsonMap = {};
    const extra: JsonValue[] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'pattern' && typeof value === 'string') {
        const compiled = compilePattern(value);
        if (compiled) patterns.set(`pattern ${value}`, compiled);
        extra.push({ format: `pattern ${value}` });
      } else if (keyword === 'format' && typeof value === 'string') {
        if (Object.hasOwn(formats, `bounded ${value}`)) extra.push({ format: `bounded ${value}` });
      } else if (schemaIn.has(keyword)) out[keyword] = rewrite(value);
      else if (schemaListIn.has(keyword) && Array.isArray(value)) out[keyword] = value.map(rewrite);
      else if (schemaMapIn.has(keyword) && isObject(value)) {
        out[keyword] = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rewrite(item)]));
      } else if (keyword !== '$id' && keyword !== '$schema') out[keyword] = value;
    }
    if (out.uniqueItems === true)
      out.maxItems = Math.min(typeof out.maxItems === 'number' ? out.maxItems : MOST_UNIQUE, MOST_UNIQUE);
    if (extra.length > 0) out.allOf = [...(Array.isArray(out.allOf) ? out.allOf : []), ...extra];
    return out;
  };
  const schema = rewrite(form);
  return { validator: new Validator(schema as Schema, '2020-12', false), patterns, nodes };
}

const prepared = new WeakMap<JsonMap, Prepared>();

function countNodes(value: JsonValue): number {
  if (typeof value === 'string') return 1 + (value.length >> 6);
  if (value === null || typeof value !== 'object') return 1;
  let count = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) count += countNodes(item);
  return count;
}

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

/** What the validator found, in the terms of a 422's `details`, with paths that begin with `root`. */
export function describeErrors(errors: readonly OutputUnit[], root: string): ErrorDetail[] {
  const telling = errors.filter(error => !UNHELPFUL.has(error.keyword));
  return (telling.length > 0 ? telling : errors).slice(0, 50).map(error => ({
    path: detailPath(error.instanceLocation, root),
    message: readable(error.keyword, error.error),
    code: error.keyword,
  }));
}

/**
 * Checks the `result` of a human task against its form: what is wrong, in the terms of a 422's `details`; empty where it
 * fits. The form must have passed `checkForm`.
 */
export function validateForm(form: JsonMap, result: JsonMap): ErrorDetail[] {
  let ready = prepared.get(form);
  if (!ready) {
    ready = prepare(form);
    prepared.set(form, ready);
  }
  if (ready.nodes * countNodes(result) > MOST_WORK) {
    return [{ path: 'result', message: 'is too large for this form', code: 'result_too_large' }];
  }
  const { validator, patterns } = ready;
  const outcome = withPatterns(patterns, () => validator.validate(result));
  return outcome.valid ? [] : describeErrors(outcome.errors, 'result');
}
