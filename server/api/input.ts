import type { z } from 'zod';
import { problemsIn } from '../operation/bounded-issues.ts';
import { AppError, badRequest, type ErrorDetail, invalid, MAX_DETAILS, notFound } from '../platform/errors.ts';
import { isObject } from '../platform/json.ts';
import { JsonNumberError, parseRequestJson } from '../platform/json-text.ts';
import { MAX_JSON_DEPTH } from '../platform/storable-json.ts';
import { readParameter } from './parameters.ts';
import type { RegisteredOperation } from './registry.ts';

/**
 * Path parameters as text, in the order of the path, and the fields of the carrier (query or body), in an object
 * that only the caller holds.
 */
export type RawInput = { path: readonly string[]; fields: Record<string, unknown> };

/**
 * Parses the raw input of an operation with its schema. Path parameters are assigned last, so that no body
 * can override `{id}`. Throws AppError 422 with `details` for the fields; 404 if a path parameter is malformed,
 * since it then names nothing.
 */
export function parseInput(entry: RegisteredOperation, raw: RawInput): unknown {
  const details: ErrorDetail[] = [];
  // Not copied, because copying an object with 100,000 keys takes 50 ms.
  const input = raw.fields;
  for (const name of entry.pathParameters) {
    if (Object.hasOwn(input, name))
      details.push({ path: name, message: 'belongs to the path and cannot be sent here' });
  }
  entry.pathParameters.forEach((name, index) => {
    const type = entry.parameters.get(name);
    const read = type ? readParameter(name, raw.path[index] ?? '', type) : { value: raw.path[index] };
    if (!('value' in read)) throw notFound('Resource');
    input[name] = read.value;
  });
  return check(entry, input, details);
}

/**
 * Returns the input of an operation with a raw body: its path and query parameters as text. Only its schema checks them. AppError
 * 404 if it refuses.
 */
export function parsePath(
  entry: RegisteredOperation,
  path: readonly string[],
  query: Record<string, unknown>,
): unknown {
  const named = Object.fromEntries(entry.pathParameters.map((name, at) => [name, path[at]]));
  const parsed = entry.operation.input.safeParse({ ...query, ...named });
  if (!parsed.success) throw notFound('Resource');
  return parsed.data;
}

/** Parses the input of a surface that sends one object (tRPC, MCP). A malformed path parameter is 404 here as well. */
export function parseObject(entry: RegisteredOperation, input: unknown): unknown {
  return check(entry, input ?? {}, []);
}

/** Checks the input with the schema. `details`: problems that were already found. */
function check(entry: RegisteredOperation, input: unknown, details: ErrorDetail[]): unknown {
  const { known, unknown } = checkFields(entry, input);
  const parsed = entry.operation.input.safeParse(known, parsing);
  if (parsed.success && details.length === 0) return parsed.data;
  const issues = parsed.success ? [] : parsed.error.issues;
  if (
    issues.some(issue => entry.pathParameters.includes(String(issue.path[0])) && issue.code !== 'unrecognized_keys')
  ) {
    // A missing field (tRPC, MCP) is the caller's mistake; a malformed id is a resource that does not exist.
    const named = entry.pathParameters.every(name => typeof input === 'object' && input !== null && name in input);
    if (named) throw notFound('Resource');
  }
  throw refusal(details, issues, unknown);
}

/** The first keys, at most as many as an error shows, and the total number. */
type Keys = { first: string[]; count: number };

/** Checks all texts of an input. Returns what the schema is to see of it, and the unknown fields. */
function checkFields(entry: RegisteredOperation, input: unknown): { known: unknown; unknown: Keys } {
  const unknown: Keys = { first: [], count: 0 };
  if (!isObject(input)) {
    checkJson(input);
    return { known: input, unknown };
  }
  for (const key in input) {
    checkText(key);
    checkJson(input[key], 1);
    if (entry.fields.has(key)) continue;
    unknown.count += 1;
    if (unknown.count <= MAX_DETAILS) unknown.first.push(key);
  }
  return { known: unknown.count > 0 ? knownFields(entry, input) : input, unknown };
}

/** No request has a field of this name, because no text contains NUL. */
const UNKNOWN_FIELDS = '\0';

/**
 * Returns the input with a single field in place of all unknown ones: the schema refuses it in its place among the other
 * problems, and would take 20 ms for 80,000 of them.
 */
function knownFields({ fields }: RegisteredOperation, input: object): Record<string, unknown> {
  const known: Record<string, unknown> = { [UNKNOWN_FIELDS]: null };
  for (const name of fields) if (Object.hasOwn(input, name)) known[name] = Reflect.get(input, name);
  return known;
}

/** `refusal` names the keys itself: zod's message would contain all of them. */
const parsing: z.core.ParseContext<z.core.$ZodIssue> = {
  error: ({ code }) => (code === 'unrecognized_keys' ? 'has unknown fields' : undefined),
};

function refusal(details: ErrorDetail[], issues: readonly z.core.$ZodIssue[], unknown: Keys): AppError {
  const shown = [...details];
  let count = details.length;
  for (const issue of issues) {
    const isAtRoot = unknown.count > 0 && issue.code === 'unrecognized_keys' && issue.path.length === 0;
    count += isAtRoot ? unknown.count : problemsIn(issue);
    if (shown.length < MAX_DETAILS) shown.push(...issueDetails(issue, isAtRoot ? unknown.first : null));
  }
  return new AppError(422, 'validation_error', 'The request is not valid.', {
    details: shown,
    hiddenDetails: count - shown.length,
  });
}

/** Reads a query string. Unknown, repeated and malformed parameters are AppError 422, all in one answer. */
export function readQuery(entry: RegisteredOperation, search: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (search.length < 2) return fields;
  const details: ErrorDetail[] = [];
  for (const [name, text] of new URLSearchParams(search)) {
    const type = entry.pathParameters.includes(name) ? undefined : entry.parameters.get(name);
    if (!type) {
      details.push({ path: name, message: 'is not a known query parameter' });
      continue;
    }
    const read = readParameter(name, text, type);
    const previous = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!('value' in read)) details.push(read);
    else if (type.list) fields[name] = Array.isArray(previous) ? [...previous, read.value] : [read.value];
    else if (previous !== undefined) details.push({ path: name, message: 'is given more than once' });
    else fields[name] = read.value;
  }
  if (details.length > 0) throw invalid('The query is not valid.', details, 'validation_error');
  return fields;
}

// Keeps no state between calls of `decode`; creating a decoder costs more than decoding most bodies.
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** AppError 415 if a request's Content-Type is not application/json. */
export function requireJson(contentType: string | undefined): void {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw new AppError(415, 'unsupported_media_type', 'The request body must be sent as application/json.');
}

/** Parses the bytes of a JSON request body. Throws AppError 400 for malformed JSON, 422 for a number that would be rounded. */
export function readJson(bytes: Uint8Array): unknown {
  try {
    return checkedNumbers(() => parseRequestJson(utf8.decode(bytes)));
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError(400, 'malformed_body', 'The request body is not valid JSON.', { cause });
  }
}

/** Calls `read`. Throws AppError 422, with the path, for a number that could only be rounded. */
export function checkedNumbers<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof JsonNumberError)) throw error;
    const details = [{ path: error.path, message: error.problem }];
    throw invalid('The request is not valid.', details, 'validation_error');
  }
}

/** The same for an object; an empty body is an empty object. Throws AppError 422 for any other value. */
export function readJsonBody(bytes: Uint8Array): Record<string, unknown> {
  const body = bytes.byteLength === 0 ? {} : readJson(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid(
      'The request body must be a JSON object.',
      [{ path: '', message: 'must be an object' }],
      'validation_error',
    );
  }
  return body as Record<string, unknown>;
}

/**
 * Refuses values that no later part can handle: nesting beyond 100 levels (AppError 400), and NUL or lone surrogates in text,
 * which PostgreSQL cannot store (422). Recursive, because the depth is limited, and a list of the remaining values takes up to 20
 * times as long for a body of a megabyte.
 */
function checkJson(value: unknown, depth = 0): void {
  if (typeof value === 'string') checkText(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= MAX_JSON_DEPTH)
    throw badRequest(`The request body is nested deeper than ${MAX_JSON_DEPTH} levels.`, 'too_deep');
  if (Array.isArray(value)) {
    // Numbers are skipped here: with a call for each, a list of 500,000 takes three times as long.
    for (const item of value) if (typeof item === 'object' || typeof item === 'string') checkJson(item, depth + 1);
    return;
  }
  // `for…in` makes no list of the keys, so that 340,000 empty objects take half as long. Objects from JSON.parse inherit no keys.
  for (const key in value) {
    checkText(key);
    checkJson((value as Record<string, unknown>)[key], depth + 1);
  }
}

function checkText(text: string): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  throw invalid('Text may contain neither NUL nor unpaired surrogates.', undefined, 'invalid_text');
}

/** Returns at most as many details as an error shows. */
function issueDetails(issue: z.core.$ZodIssue, unknown: readonly string[] | null): ErrorDetail[] {
  const path = pathText(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  const keys = unknown ?? issue.keys.slice(0, MAX_DETAILS);
  return keys.map(key => ({ path: path ? `${path}.${key}` : key, message: 'is not a known field' }));
}

/** Returns a path in the form `graph.steps[0].id`. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
    .join('');
}
