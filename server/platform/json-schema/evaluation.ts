import { isObject, type Json, type JsonObject } from '../json.ts';
import { formatProblem } from './formats.ts';
import { countProblem, type KeywordProblem, numberProblem } from './limits.ts';
import type { EvaluationSettings } from './settings.ts';
import { countNodes, isInteger, isNumeric, isSame, SCHEMA_TYPES, typeOf, type Value } from './value.ts';
import { type Verdict, worse } from './verdict.ts';
import { counted, type Finding, nearestFindings, shortName, wrongType, wrongValue } from './words.ts';

/** More findings do not help a reader. */
const MAX_FINDINGS = 50;
/** Schemas one within the other: a value of a hundred levels, each with a few references. */
const MAX_DEPTH = 500;

/** The error when an evaluation exceeds its budget. */
export class TooMuchWork extends Error {}

type Findings = Finding[] | null;

/**
 * Judges one value by a schema. It has three verdicts, since a part that cannot be judged (a pattern with look-ahead, a
 * reference to another document) must not refuse anything, also not beneath `not`. Each keyword costs a unit, and a comparison
 * in proportion to the length of its values, so that a unit is about 100 ns.
 */
export class Evaluation {
  readonly #settings: EvaluationSettings;
  readonly #path: (string | number)[] = [];
  #left: number;
  #depth = 0;

  constructor(settings: EvaluationSettings, budget: number) {
    this.#settings = settings;
    this.#left = budget;
  }

  /** Judges a value, and adds the findings to `into` unless it is null. Throws TooMuchWork. */
  judge(schema: Json | undefined, value: Value, into: Findings): Verdict {
    if (schema === true) return this.#spend(1, 'valid');
    if (schema === false) return this.#refuse(this.#spend(1, into), 'false', 'is not expected');
    if (!isObject(schema)) return this.#spend(1, 'unknown');
    const keywords = Object.keys(schema);
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork();
    this.#spend(1 + keywords.length);
    const verdict = this.#schema(schema, keywords, { value, into });
    this.#depth--;
    return verdict;
  }

  #schema(schema: JsonObject, keywords: readonly string[], { value, into }: { value: Value; into: Findings }): Verdict {
    // OpenAPI 3.0: null is allowed regardless of other keywords, such as a reference to an object.
    if (value === null && schema.nullable === true) return 'valid';
    if (schema.$ref !== undefined && !this.#settings.siblings) return this.#reference(schema, value, into);
    let verdict = this.#type(schema.type, value, into);
    // The other keywords would say the same once more.
    if (verdict === 'invalid') return verdict;
    for (const keyword of keywords) {
      verdict = worse(verdict, this.#keyword(schema, keyword, value, into));
      if (verdict === 'invalid' && isFull(into)) break;
    }
    return verdict;
  }

  #spend<T>(units: number, then?: T): T {
    this.#left -= units;
    if (this.#left < 0) throw new TooMuchWork();
    return then as T;
  }

  #refuse(into: Findings, keyword: string, message: string): Verdict {
    return this.#report(into, { path: [...this.#path], keyword, message });
  }

  #report(into: Findings, finding: Finding): Verdict {
    // The same part of a schema can be reached in several ways.
    const isNew = into?.every(
      ({ path, message }) => message !== finding.message || path.join() !== finding.path.join(),
    );
    if (isNew && !isFull(into)) into?.push(finding);
    return 'invalid';
  }

  /** Judges a part of a value. */
  #inner(schema: Json | undefined, key: string | number, value: Value, into: Findings): Verdict {
    this.#path.push(key);
    const verdict = this.judge(schema, value, isFull(into) ? null : into);
    this.#path.pop();
    return verdict;
  }

  #type(type: Json | undefined, value: Value, into: Findings): Verdict {
    if (type === undefined) return 'valid';
    const types = Array.isArray(type) ? type : [type];
    if (!types.every(one => typeof one === 'string')) return 'unknown';
    const actual = typeOf(value);
    if (types.some(one => one === actual || (one === 'integer' && isInteger(value)))) return 'valid';
    // Some servers write "String" or "any", which have no defined meaning.
    if (!types.every(one => SCHEMA_TYPES.has(one))) return 'unknown';
    return this.#report(into, wrongType([...this.#path], types, actual));
  }

  #keyword(schema: JsonObject, keyword: string, value: Value, into: Findings): Verdict {
    const of = schema[keyword] ?? null;
    switch (keyword) {
      case '$ref':
        return this.#reference(schema, value, into);
      case 'enum':
        return Array.isArray(of) ? this.#oneOfValues(keyword, of, value, into) : 'unknown';
      case 'const':
        return this.#oneOfValues(keyword, [of], value, into);
      case 'allOf':
        if (!Array.isArray(of)) return 'unknown';
        return of.reduce((verdict: Verdict, one) => worse(verdict, this.judge(one, value, into)), 'valid');
      case 'anyOf':
      case 'oneOf':
        return Array.isArray(of) ? this.#alternatives(keyword, of, value, into) : 'unknown';
      case 'not': {
        const verdict = this.judge(of, value, null);
        if (verdict === 'valid') return this.#refuse(into, keyword, 'has a form that is excluded');
        return verdict === 'invalid' ? 'valid' : verdict;
      }
      case 'if': {
        const verdict = this.judge(of, value, null);
        if (verdict === 'unknown') return verdict;
        return this.judge((verdict === 'valid' ? schema.then : schema.else) ?? true, value, into);
      }
      case '$dynamicRef':
      case '$recursiveRef':
        return 'unknown';
      default:
        if (isNumeric(value)) return this.#said(numberProblem(schema, keyword, value), keyword, into);
        if (typeof value === 'string') return this.#text(keyword, of, value, into);
        if (Array.isArray(value)) return this.#array(schema, keyword, value, into);
        return isObject(value) ? this.#object(schema, keyword, value, into) : 'valid';
    }
  }

  #reference(schema: JsonObject, value: Value, into: Findings): Verdict {
    const target = this.#settings.references.resolve(schema);
    return target.kind === 'schema' ? this.judge(target.schema, value, into) : 'unknown';
  }

  #oneOfValues(keyword: string, values: readonly Value[], value: Value, into: Findings): Verdict {
    const isDeep = typeof value === 'object' && value !== null;
    this.#spend(isDeep ? countNodes([...values] as Json) : Math.ceil(values.length / 8));
    if (values.some(one => isSame(one, value))) return 'valid';
    return into === null ? 'invalid' : this.#report(into, wrongValue([...this.#path], keyword, values));
  }

  #alternatives(keyword: 'anyOf' | 'oneOf', of: readonly Json[], value: Value, into: Findings): Verdict {
    let valid = 0;
    let unknown = 0;
    const findings: Finding[][] = [];
    for (const one of of) {
      const found: Findings = isFull(into) ? null : [];
      const verdict = this.judge(one, value, found);
      if (verdict === 'valid') valid++;
      if (verdict === 'unknown') unknown++;
      if (found !== null) findings.push(found);
      if (valid > (keyword === 'oneOf' ? 1 : 0)) break;
    }
    if (valid > 1)
      return this.#refuse(into, keyword, 'fits more than one of the alternatives, and must fit exactly one');
    if (unknown > 0) return keyword === 'anyOf' && valid === 1 ? 'valid' : 'unknown';
    if (valid === 1) return 'valid';
    if (into !== null) {
      const nearest = nearestFindings(findings, [...this.#path], keyword);
      for (const finding of nearest) this.#report(into, finding);
    }
    return 'invalid';
  }

  #text(keyword: string, of: Json, value: string, into: Findings): Verdict {
    switch (keyword) {
      case 'minLength':
      case 'maxLength': {
        this.#spend(Math.ceil(value.length / 8));
        // Characters, which JavaScript counts as one or two units.
        const isPlain = !/[\ud800-\udbff]/.test(value);
        return this.#said(
          countProblem(keyword, isPlain ? value.length : [...value].length, of, 'character'),
          keyword,
          into,
        );
      }
      case 'pattern': {
        const pattern = typeof of === 'string' ? this.#settings.patterns(of) : undefined;
        if (pattern === undefined) return 'unknown';
        this.#spend(value.length * pattern.cost + pattern.cost);
        return pattern.test(value) ? 'valid' : this.#refuse(into, keyword, `must match the pattern ${of}`);
      }
      case 'format': {
        if (!this.#settings.formats || typeof of !== 'string') return 'valid';
        this.#spend(Math.ceil(value.length / 8));
        const expected = formatProblem(of, value);
        return expected === undefined ? 'valid' : this.#refuse(into, keyword, `must be ${expected}`);
      }
      default:
        return 'valid';
    }
  }

  /** Converts the result of a keyword's function to a verdict. */
  #said(problem: KeywordProblem, keyword: string, into: Findings): Verdict {
    if (problem === undefined) return 'valid';
    return problem === null ? 'unknown' : this.#refuse(into, keyword, problem);
  }

  #array(schema: JsonObject, keyword: string, value: readonly Json[], into: Findings): Verdict {
    const of = schema[keyword] ?? null;
    const tuple = [schema.prefixItems, schema.items].find(list => Array.isArray(list)) as Json[] | undefined;
    switch (keyword) {
      case 'minItems':
      case 'maxItems':
        return this.#said(countProblem(keyword, value.length, of, 'item'), keyword, into);
      case 'prefixItems':
        return Array.isArray(of) ? this.#items(index => of[index], value, { to: of.length, into }) : 'unknown';
      case 'items':
        if (Array.isArray(of)) return this.#items(index => of[index], value, { to: of.length, into });
        return this.#items(() => of, value, { from: tuple?.length ?? 0, into });
      case 'additionalItems':
        return Array.isArray(schema.items) ? this.#items(() => of, value, { from: tuple?.length ?? 0, into }) : 'valid';
      case 'contains':
        return this.#contains(schema, value, into);
      case 'uniqueItems':
        return of === true ? this.#unique(value, into) : 'valid';
      case 'unevaluatedItems':
        return 'unknown';
      default:
        return 'valid';
    }
  }

  #items(
    schemaOf: (index: number) => Json | undefined,
    value: readonly Json[],
    { from = 0, to = value.length, into }: { from?: number; to?: number; into: Findings },
  ): Verdict {
    let verdict: Verdict = 'valid';
    for (let index = from; index < Math.min(to, value.length); index++) {
      verdict = worse(verdict, this.#inner(schemaOf(index), index, value[index] ?? null, into));
      if (verdict === 'invalid' && isFull(into)) break;
    }
    return verdict;
  }

  #contains(schema: JsonObject, value: readonly Json[], into: Findings): Verdict {
    const { minContains = 1, maxContains = value.length } = schema;
    if (typeof minContains !== 'number' || typeof maxContains !== 'number') return 'unknown';
    let valid = 0;
    let unknown = 0;
    for (const [index, item] of value.entries()) {
      const verdict = this.#inner(schema.contains, index, item, null);
      if (verdict === 'valid') valid++;
      if (verdict === 'unknown') unknown++;
    }
    const items = (limit: number): string => `${counted(limit, 'item')} of the form of “contains”, not ${valid}`;
    if (valid + unknown < minContains)
      return this.#refuse(into, 'contains', `must have at least ${items(minContains)}`);
    if (valid > maxContains) return this.#refuse(into, 'contains', `must have at most ${items(maxContains)}`);
    return unknown > 0 ? 'unknown' : 'valid';
  }

  #unique(value: readonly Json[], into: Findings): Verdict {
    const { maxUniqueItems = value.length } = this.#settings;
    const pairs = Math.ceil(value.length / 8);
    this.#spend(value.length * pairs + countNodes([...value]) * pairs);
    const tooMany = countProblem('maxItems', value.length, maxUniqueItems, 'item');
    if (typeof tooMany === 'string') return this.#refuse(into, 'maxItems', tooMany);
    for (const [index, item] of value.entries()) {
      const first = value.findIndex(other => isSame(other, item));
      if (first < index) {
        return this.#refuse(into, 'uniqueItems', `must not have equal items, as [${first}] and [${index}] are`);
      }
    }
    return 'valid';
  }

  #object(schema: JsonObject, keyword: string, value: JsonObject, into: Findings): Verdict {
    const of = schema[keyword] ?? null;
    switch (keyword) {
      case 'required':
        return this.#required(keyword, of, { value, into });
      case 'minProperties':
      case 'maxProperties':
        return this.#said(countProblem(keyword, Object.keys(value).length, of, 'field'), keyword, into);
      case 'properties':
        return isObject(of) ? this.#properties(of, value, into) : 'unknown';
      case 'patternProperties':
        return isObject(of) ? this.#patternProperties(of, value, into) : 'unknown';
      case 'additionalProperties':
        return this.#additionalProperties(schema, value, into);
      case 'propertyNames':
        return this.#propertyNames(of, value, into);
      case 'dependentRequired':
      case 'dependentSchemas':
      case 'dependencies':
        return isObject(of) ? this.#dependent(keyword, of, value, into) : 'unknown';
      case 'unevaluatedProperties':
        return 'unknown';
      default:
        return 'valid';
    }
  }

  #required(
    keyword: string,
    of: Json,
    { value, into, because = '' }: { value: JsonObject; into: Findings; because?: string },
  ): Verdict {
    if (!Array.isArray(of)) return 'unknown';
    this.#spend(of.length);
    let verdict: Verdict = 'valid';
    for (const name of of) {
      if (typeof name !== 'string' || Object.hasOwn(value, name)) continue;
      verdict = this.#refuse(into, keyword, `${shortName(name)} is missing${because}`);
      if (isFull(into)) break;
    }
    return verdict;
  }

  #properties(of: JsonObject, value: JsonObject, into: Findings): Verdict {
    let verdict: Verdict = 'valid';
    for (const [name, schema] of Object.entries(of)) {
      this.#spend(1);
      if (!Object.hasOwn(value, name)) continue;
      verdict = worse(verdict, this.#inner(schema, name, value[name] ?? null, into));
    }
    return verdict;
  }

  /** Returns whether a name matches; undefined if the pattern cannot be used. */
  #matches(source: string, name: string): boolean | undefined {
    const pattern = this.#settings.patterns(source);
    if (pattern === undefined) return undefined;
    this.#spend(name.length * pattern.cost + pattern.cost);
    return pattern.test(name);
  }

  #patternProperties(of: JsonObject, value: JsonObject, into: Findings): Verdict {
    let verdict: Verdict = 'valid';
    for (const [source, schema] of Object.entries(of)) {
      for (const [name, item] of Object.entries(value)) {
        const matches = this.#matches(source, name);
        if (matches === undefined) verdict = worse(verdict, 'unknown');
        else if (matches) verdict = worse(verdict, this.#inner(schema, name, item, into));
      }
    }
    return verdict;
  }

  #additionalProperties(schema: JsonObject, value: JsonObject, into: Findings): Verdict {
    const { properties, patternProperties, additionalProperties } = schema;
    const patterns = isObject(patternProperties) ? Object.keys(patternProperties) : [];
    let verdict: Verdict = 'valid';
    for (const [name, item] of Object.entries(value)) {
      this.#spend(1);
      if (isObject(properties) && Object.hasOwn(properties, name)) continue;
      const matched = patterns.map(source => this.#matches(source, name));
      if (matched.includes(true)) continue;
      if (matched.includes(undefined)) verdict = worse(verdict, 'unknown');
      else verdict = worse(verdict, this.#inner(additionalProperties, name, item, into));
      if (verdict === 'invalid' && isFull(into)) break;
    }
    return verdict;
  }

  #propertyNames(of: Json, value: JsonObject, into: Findings): Verdict {
    let verdict: Verdict = 'valid';
    for (const name of Object.keys(value)) {
      const found: Findings = isFull(into) ? null : [];
      verdict = worse(verdict, this.#inner(of, name, name, found));
      for (const { path, message } of found ?? []) {
        this.#report(into, { path, keyword: 'propertyNames', message: `has a name that ${message}` });
      }
      if (verdict === 'invalid' && isFull(into)) break;
    }
    return verdict;
  }

  #dependent(keyword: string, of: JsonObject, value: JsonObject, into: Findings): Verdict {
    let verdict: Verdict = 'valid';
    for (const [name, needed] of Object.entries(of)) {
      this.#spend(1);
      if (!Object.hasOwn(value, name)) continue;
      const because = `: ${shortName(name)} requires it`;
      const one = Array.isArray(needed)
        ? this.#required(keyword, needed, { value, into, because })
        : this.judge(needed, value, into);
      verdict = worse(verdict, one);
    }
    return verdict;
  }
}

/** Returns whether no further findings are wanted. */
const isFull = (into: Findings): boolean => into === null || into.length >= MAX_FINDINGS;
