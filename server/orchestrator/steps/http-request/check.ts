import { hasTemplate } from '../../languages/templates.ts';
import type { StepProblem } from '../../ports/step-type.ts';
import { BODY_FIELDS, bodyRefusal, type HttpRequestFields, METHODS } from './fields.ts';
import { pageProblems } from './page-check.ts';
import { headerNameProblem, headerProblems, parameterProblems } from './parameters.ts';
import { templatedUrlProblem } from './url.ts';

const problem = (path: string, message: string, code = 'invalid_field'): StepProblem => ({ path, code, message });

/**
 * Returns all problems of the fields of an `http_request` step that do not depend on the values of templates. The
 * schema has been checked before.
 */
export function fieldProblems(fields: HttpRequestFields): StepProblem[] {
  const { url, query, headers, form } = fields;
  const wrongUrl = templatedUrlProblem(url);
  return [
    ...(wrongUrl === null ? [] : [problem('url', wrongUrl)]),
    ...methodProblems(fields),
    ...(query === undefined ? [] : parameterProblems('query', query)),
    ...(headers === undefined ? [] : headerProblems(headers)),
    ...bodyProblems(fields),
    ...(form === undefined ? [] : parameterProblems('form', form)),
    ...authProblems(fields),
    ...pageProblems(fields),
  ];
}

/** Returns why `method` cannot be sent; null if it can. */
export function methodProblem(method: string): string | null {
  return METHODS.some(each => each === method) ? null : `must be one of ${METHODS.join(', ')}`;
}

function methodProblems({ method = 'GET' }: HttpRequestFields): StepProblem[] {
  const wrong = hasTemplate(method) ? null : methodProblem(method);
  return wrong === null ? [] : [problem('method', wrong)];
}

/** Returns the body fields that a step has. More than one is a problem. */
export function bodiesOf(fields: HttpRequestFields): (typeof BODY_FIELDS)[number][] {
  return BODY_FIELDS.filter(name => fields[name] !== undefined);
}

function bodyProblems(fields: HttpRequestFields): StepProblem[] {
  const [first, second] = bodiesOf(fields);
  const { method = 'GET', headers = {} } = fields;
  if (first === undefined) return [];
  const problems: StepProblem[] = [];
  if (second !== undefined) {
    problems.push(problem(second, `a request has one body, and ${first} is one already`, 'more_than_one_body'));
  }
  const refusal = bodyRefusal(method, fields.body_with_get);
  if (refusal !== null) problems.push(problem(first, refusal, 'body_not_allowed'));
  if (first === 'multipart') {
    const set = Object.keys(headers).find(name => name.toLowerCase() === 'content-type');
    if (set !== undefined)
      problems.push(problem(`headers.${set}`, 'multipart sets it, with the boundary of its parts'));
  }
  return problems;
}

function authProblems({ connection_id, auth, headers = {} }: HttpRequestFields): StepProblem[] {
  if (auth !== undefined && connection_id === undefined) {
    return [problem('auth', 'needs connection_id, the connection with the credentials')];
  }
  if (auth?.type === 'header' && auth.credential !== undefined && auth.name === undefined) {
    return [problem('auth.name', 'is required with credential', 'missing_field')];
  }
  const sent = auth?.type === 'header' ? auth.name : auth?.type === 'query' ? undefined : 'Authorization';
  if (connection_id === undefined || sent === undefined) return [];
  const wrong = headerNameProblem(sent);
  if (wrong !== null) return [problem('auth.name', wrong)];
  const twice = Object.keys(headers).find(name => name.toLowerCase() === sent.toLowerCase());
  return twice === undefined ? [] : [problem(`headers.${twice}`, 'the connection sets this header')];
}
