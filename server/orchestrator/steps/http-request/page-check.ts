import type { JsonMap, JsonValue } from '../../core/index.ts';
import { hasTemplate, parseResponseTemplate, TemplateSyntaxError } from '../../languages/templates.ts';
import type { StepProblem } from '../../ports/step-type.ts';
import type { HttpRequestFields } from './fields.ts';
import { PAGE_RULES, type Pagination } from './page-fields.ts';
import { itemsPath } from './page-templates.ts';
import { parameterProblems } from './parameters.ts';

const problem = (path: string, message: string, code = 'invalid_field'): StepProblem => ({ path, code, message });

/** Returns the problems of `pagination` that do not depend on the values of templates. */
export function pageProblems({ method = 'GET', pagination }: HttpRequestFields): StepProblem[] {
  if (pagination === undefined) return [];
  const { next, query, page, offset, has_more: flag } = pagination;
  const problems = ruleProblems(pagination);
  if (method !== 'GET') problems.push(problem('pagination', 'needs the method GET'));
  if (next !== undefined) problems.push(...templateProblems('pagination.next', next));
  if (query !== undefined) problems.push(...queryProblems(query));
  for (const [path, template] of [
    ['pagination.has_more', flag],
    ['pagination.page.last', page?.last],
    ['pagination.offset.total', offset?.total],
  ] as const) {
    if (template !== undefined) problems.push(...templateProblems(path, template, true));
  }
  if (itemsPath(pagination.items) === null) {
    problems.push(problem('pagination.items', 'must be a path of names and indexes, such as data.orders'));
  }
  return problems;
}

function ruleProblems(pagination: Pagination): StepProblem[] {
  const [first, second] = PAGE_RULES.filter(rule => pagination[rule] !== undefined);
  if (first === undefined) {
    return [problem('pagination', `must have one of ${PAGE_RULES.join(', ')}`, 'missing_field')];
  }
  return second === undefined ? [] : [problem(`pagination.${second}`, `cannot stand beside ${first}`)];
}

/** Returns the problems of a field with templates. `whole`: the text must be exactly one template. */
function templateProblems(path: string, text: string, whole = false): StepProblem[] {
  try {
    const parsed = parseResponseTemplate(text);
    if (whole && parsed.whole === null) return [problem(path, 'must be one template, such as {{response.body.more}}')];
    return hasTemplate(text) ? [] : [problem(path, 'must hold a template, such as {{response.body.next}}')];
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    return [problem(path, error.message, 'template_malformed')];
  }
}

function queryProblems(query: JsonMap): StepProblem[] {
  const problems = parameterProblems('pagination.query', query);
  if (problems.length > 0) return problems;
  const texts = Object.entries(query).flatMap(([name, value]) =>
    listOf(value).flatMap(each => (typeof each === 'string' && hasTemplate(each) ? [[name, each] as const] : [])),
  );
  if (texts.length === 0)
    return [problem('pagination.query', 'must hold a template, such as {{response.body.cursor}}')];
  return texts.flatMap(([name, text]) => templateProblems(`pagination.query.${name}`, text));
}

const listOf = (value: JsonValue | undefined): JsonValue[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
