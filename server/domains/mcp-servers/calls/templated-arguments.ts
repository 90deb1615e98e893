import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import {
  hasTemplate,
  holdsTemplate,
  parseTemplate,
  TemplateSyntaxError,
} from '../../../orchestrator/languages/templates.ts';
import type { StepProblem } from '../../../orchestrator/ports/step-type.ts';
import { isObject } from '../../../platform/json.ts';
import { References } from '../../../platform/json-schema/references.ts';
import { isInteger, isSame, quoteValue, typeOf } from '../../../platform/json-schema/value.ts';
import { argumentProblems } from './input-schema.ts';

/** Beyond this the check ends without problems: the call checks again. */
const MAX_VISITS = 10_000;
const MAX_PROBLEMS = 20;
/** The maximum depth of nested schemas, including references. */
const MAX_DEPTH = 200;

/**
 * Returns what the value of a string with a template can be. Malformed templates are reported by
 * the validation of the graph.
 */
function meaning(text: string): 'any' | 'text' {
  try {
    return parseTemplate(text).whole ? 'any' : 'text';
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return 'any';
    throw error;
  }
}

/**
 * Returns the certain problems of arguments with templates, if any. A string that consists of one template may become
 * any value; one with text around a template becomes a string.
 */
export function templatedArgumentProblems(schema: JsonMap, args: JsonMap): StepProblem[] {
  const found = new Check(schema).visit(schema, args, 'tool_args').slice(0, MAX_PROBLEMS);
  if (found.length > 0 || holdsTemplate(args)) return found;
  return argumentProblems(schema, args).map(({ path, message }) => ({ path, code: 'tool_args_invalid', message }));
}

class Check {
  readonly #references: References;
  #visits = 0;
  #depth = 0;
  constructor(root: JsonMap) {
    this.#references = new References(root);
  }

  visit(schema: JsonValue | undefined, value: JsonValue, path: string): StepProblem[] {
    if (++this.#visits > MAX_VISITS || this.#depth > MAX_DEPTH || !isObject(schema)) return [];
    this.#depth++;
    const found = this.#judge(schema, value, path);
    this.#depth--;
    return found;
  }

  #judge(schema: JsonMap, value: JsonValue, path: string): StepProblem[] {
    if (typeof value === 'string' && hasTemplate(value)) {
      return meaning(value) === 'any' ? [] : this.#typeProblem(schema, value, path);
    }
    // OpenAPI 3.0: null is allowed regardless of the other keywords.
    if (value === null && schema.nullable === true) return [];
    const problem = this.#typeProblem(schema, value, path);
    if (problem.length > 0) return problem;
    return [
      ...this.#reference(schema, value, path),
      ...this.#literal(schema, value, path),
      ...this.#combined(schema, value, path),
      ...(isObject(value) ? this.#fields(schema, value, path) : []),
      ...(Array.isArray(value) ? this.#items(schema, value, path) : []),
    ];
  }

  #reference(schema: JsonMap, value: JsonValue, path: string): StepProblem[] {
    if (typeof schema.$ref !== 'string') return [];
    const target = this.#references.resolve(schema);
    return target.kind === 'schema' ? this.visit(target.schema, value, path) : [];
  }

  #typeProblem({ type }: JsonMap, value: JsonValue, path: string): StepProblem[] {
    const types = Array.isArray(type) ? type : [type];
    if (!types.every(one => typeof one === 'string')) return [];
    const is = typeOf(value);
    const fits = types.some(one => one === is || (one === 'integer' && isInteger(value)));
    if (fits) return [];
    return [problem(path, `is ${is === 'null' ? is : `of type ${is}`}; expected ${types.join(' or ')}`)];
  }

  #literal(schema: JsonMap, value: JsonValue, path: string): StepProblem[] {
    // A string whose value is not known yet is not checked here.
    if (holdsTemplate(value)) return [];
    const allowed = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? undefined : [schema.const];
    if (!allowed || typeof value === 'object' || allowed.some(one => isSame(one, value))) return [];
    return [problem(path, `must be one of ${quoteValue(allowed, 500)}`)];
  }

  #combined(schema: JsonMap, value: JsonValue, path: string): StepProblem[] {
    const all = Array.isArray(schema.allOf) ? schema.allOf.flatMap(one => this.visit(one, value, path)) : [];
    const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
    if (!Array.isArray(alternatives) || alternatives.length === 0) return all;
    const found: StepProblem[][] = [];
    for (const one of alternatives) {
      const problems = this.visit(one, value, path);
      if (problems.length === 0) return all;
      found.push(problems);
    }
    // The closest alternative is the one that was meant, and one of the right type is closer than any other.
    const distance = (problems: StepProblem[]): number =>
      problems.length + (problems.some(one => one.path === path) ? MAX_PROBLEMS : 0);
    const [nearest = []] = found.sort((a, b) => distance(a) - distance(b));
    return [...all, ...nearest];
  }

  #fields(schema: JsonMap, value: JsonMap, path: string): StepProblem[] {
    const found: StepProblem[] = [];
    // A key with a template may become any of the names.
    const hasKeys = Object.keys(value).some(hasTemplate);
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const name of Array.isArray(schema.required) ? schema.required : []) {
      if (typeof name === 'string' && !Object.hasOwn(value, name) && !hasKeys) {
        found.push(problem(`${path}.${name}`, 'is required by the tool', 'tool_arg_missing'));
      }
    }
    for (const [name, item] of Object.entries(value)) {
      const at = `${path}.${name}`;
      if (hasTemplate(name)) continue;
      if (Object.hasOwn(properties, name)) found.push(...this.visit(properties[name], item, at));
      else if (schema.patternProperties === undefined && schema.additionalProperties !== undefined) {
        if (schema.additionalProperties === false)
          found.push(problem(at, 'is not known to the tool', 'tool_arg_unknown'));
        else found.push(...this.visit(schema.additionalProperties, item, at));
      }
    }
    return found;
  }

  #items(schema: JsonMap, value: JsonValue[], path: string): StepProblem[] {
    const leading = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
    const rest = Array.isArray(schema.items) ? undefined : schema.items;
    return value.flatMap((item, index) =>
      this.visit(Array.isArray(leading) && index < leading.length ? leading[index] : rest, item, `${path}[${index}]`),
    );
  }
}

const problem = (path: string, message: string, code = 'tool_args_invalid'): StepProblem => ({ path, code, message });
