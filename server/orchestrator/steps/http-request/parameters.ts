import type { JsonMap, JsonValue } from '../../core/index.ts';
import { hasTemplate } from '../../languages/templates.ts';
import type { StepProblem } from '../../ports/step-type.ts';
import { InvalidStep } from '../common-fields.ts';
import { MAX_ALL_HEADERS_BYTES, MAX_HEADER_BYTES, MAX_HEADERS, MAX_PARAMETERS } from './fields.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Headers that frame a message or belong to the connection. The HTTP client sets them. */
const RESERVED_HEADER =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i;
/** RFC 9110, 5.5: visible characters and bytes above ASCII; spaces and tabs only between them. */
const HEADER_VALUE = /^$|^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

/** Returns the problem with the name of a header, or null. */
export function headerNameProblem(name: string): string | null {
  if (!HEADER_NAME.test(name)) return 'is no name of a header';
  return RESERVED_HEADER.test(name) ? 'is set by the request itself' : null;
}

/** Returns the problems with `headers` before templates are rendered. */
export function headerProblems(headers: JsonMap): StepProblem[] {
  const problems: StepProblem[] = [];
  const problem = (path: string, message: string) => problems.push({ path, code: 'invalid_field', message });
  const seen = new Set<string>();
  if (Object.keys(headers).length > MAX_HEADERS) {
    problem('headers', `must name at most ${MAX_HEADERS} headers`);
    return problems;
  }
  for (const [name, value] of Object.entries(headers)) {
    const path = `headers.${name.slice(0, 100)}`;
    const wrong = (hasTemplate(name) ? null : headerNameProblem(name)) ?? headerValueProblem(value);
    if (wrong !== null) problem(path, wrong);
    else if (seen.has(name.toLowerCase())) problem(path, 'is set twice: upper and lower case are the same');
    seen.add(name.toLowerCase());
  }
  return problems;
}

function headerValueProblem(value: JsonValue | undefined): string | null {
  if (typeof value === 'object' && value !== null) return 'must be a text, number, boolean or null';
  if (typeof value !== 'string' || hasTemplate(value)) return null;
  return headerTextProblem(value);
}

function headerTextProblem(text: string): string | null {
  if (text.length > MAX_HEADER_BYTES) return `is longer than ${MAX_HEADER_BYTES} bytes`;
  return HEADER_VALUE.test(text) ? null : 'holds characters that a header cannot carry, or spaces at its ends';
}

/** Returns the rendered headers by lower-case name. Throws InvalidStep. */
export function headersOf(headers: JsonMap): Map<string, string> {
  const [problem] = headerProblems(headers);
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  const sent = new Map<string, string>();
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === null || value === undefined) continue;
    const text = String(value);
    // Braces in a rendered value are text, not a template.
    const wrong = headerNameProblem(name) ?? headerTextProblem(text);
    if (wrong !== null) throw new InvalidStep(`headers.${name}: ${wrong}`);
    bytes += name.length + text.length;
    if (bytes > MAX_ALL_HEADERS_BYTES) throw new InvalidStep(`headers: are larger than ${MAX_ALL_HEADERS_BYTES} bytes`);
    sent.set(name.toLowerCase(), text);
  }
  return sent;
}

/** Returns whether a value is sent as text: everything except lists and objects. */
export const isScalar = (value: JsonValue) => typeof value !== 'object' || value === null;

/** Returns the problems with the parameters of `query` or `form`. Templates may render to any value. */
export function parameterProblems(field: string, parameters: JsonMap): StepProblem[] {
  const problems: StepProblem[] = [];
  const problem = (path: string, message: string) => problems.push({ path, code: 'invalid_field', message });
  const values = Object.values(parameters);
  const count = values.reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
  if (count > MAX_PARAMETERS) {
    problem(field, `must hold at most ${MAX_PARAMETERS} parameters`);
    return problems;
  }
  for (const [name, value] of Object.entries(parameters)) {
    const path = `${field}.${name.slice(0, 100)}`;
    if (name === '') problem(field, 'must not name an empty parameter');
    else if (!(Array.isArray(value) ? value.every(isScalar) : isScalar(value))) {
      problem(path, 'must be a text, number, boolean or null, or a list of these');
    }
  }
  return problems;
}

/** Returns rendered parameters as `application/x-www-form-urlencoded`. Throws InvalidStep. */
export function encodeParameters(field: string, parameters: JsonMap): string {
  const [problem] = parameterProblems(field, parameters);
  if (problem) throw new InvalidStep(`${problem.path}: ${problem.message}`);
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null) encoded.append(name, String(each));
    }
  }
  return encoded.toString();
}
