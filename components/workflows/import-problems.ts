import { isRecord, readError } from '../ui/errors.ts';

/** The types of JSON, as zod and JSON Schema call them. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const NAMES: Readonly<Record<string, string>> = {
  '': 'The document',
  name: 'The name',
  description: 'The description',
  graph: 'The graph',
  'graph.steps': 'The list of steps',
  'graph.notes': 'The list of notes',
  run_setup: 'The run setup',
  baton: 'The version of the format',
  kind: 'The kind of document',
};

/** Translates the problems of a document into the console's words: what is wrong, where, and what would be right. */
export function inImportWords(error: unknown): unknown {
  if (!error) return error;
  const { message, status, details } = readError(error);
  if (status !== 422 || details.length === 0 || !(error instanceof Error)) return error;
  const translated = details.map(detail => ({ path: '', message: inWords(detail.path, detail.message) }));
  const data = 'data' in error && isRecord(error.data) ? error.data : {};
  return Object.assign(new Error(message), { data: { ...data, details: translated } });
}

function inWords(path: string, message: string): string {
  const place = nameOf(path);
  const [, expected, received] = /^Invalid input: expected (.+?)(?:, received (.+))?$/.exec(message) ?? [];
  if (received === 'undefined') return `${place} is missing.`;
  if (expected !== undefined) return `${place} must be ${TYPES[expected] ?? expected.replaceAll('"', '')}.`;
  const [, unknown] = /^Unrecognized keys?: (.+)$/.exec(message) ?? [];
  if (unknown !== undefined) return `${place} has fields that Baton does not know: ${unknown.replaceAll('"', '')}.`;
  const [, choices] = /^Invalid option: expected one of (.+)$/.exec(message) ?? [];
  if (choices !== undefined) return `${place} must be one of ${choices.replaceAll('"', '').replaceAll('|', ', ')}.`;
  const [, maximum, unit] = /^Too big: expected \w+ to (?:have|be) <=?(\d+)(?: (\w+))?$/.exec(message) ?? [];
  if (maximum !== undefined)
    return `${place} has more than ${maximum} ${unit === 'items' ? 'entries' : (unit ?? '')}`.trim().concat('.');
  if (/^Too small: expected \w+ to (?:have|be) >=?1 /.test(message)) return `${place} must not be empty.`;
  if (/^must /i.test(message)) return `${place} m${sentence(message).slice(1)}`;
  // The message of one of our own rules, which starts with the place or with the problem.
  return path === '' || path === 'document' ? sentence(message) : `${place}: ${sentence(message)}`;
}

/** Returns the name of the place at a path: "Step 2, depends_on". */
function nameOf(path: string): string {
  const known = Object.hasOwn(NAMES, path) ? NAMES[path] : undefined;
  if (known !== undefined) return known;
  const [, list, at, rest] = /^graph\.(steps|notes)\.(\d+)(?:\.(.+))?$/.exec(path) ?? [];
  if (at === undefined) return `“${path}”`;
  const entry = `${list === 'steps' ? 'Step' : 'Note'} ${Number(at) + 1}`;
  return rest === undefined ? entry : `${entry}, “${rest}”`;
}

function sentence(text: string): string {
  const capitalized = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}
