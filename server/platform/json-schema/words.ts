import type { Json } from '../json.ts';
import { quoteValue, type Value } from './value.ts';

/**
 * One thing that is wrong with a value. `message` continues a sentence that begins with the path: “is missing”, “must be a
 * string”.
 */
export type Finding = {
  /** The keys and indexes that lead to the value. */
  path: readonly (string | number)[];
  keyword: string;
  message: string;
  /** The types, or the values, one of which it should have been: alternatives are reported as one finding. */
  types?: readonly string[];
  values?: readonly Value[];
};

type Path = Finding['path'];

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/** Joins alternatives: `a, b or c`. */
function eitherOf(names: readonly string[]): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`;
}

/** Returns the finding for a value of a wrong type. */
export function wrongType(path: Path, types: readonly string[], actual: string): Finding {
  const expected = eitherOf([...new Set(types)].map(type => NAMES[type] ?? type));
  const found = actual === 'boolean' ? 'a boolean' : (NAMES[actual] ?? actual);
  return { path, keyword: 'type', types, message: `must be ${expected}, not ${found}` };
}

/** Returns the finding for a value that is none of those that are allowed. */
export function wrongValue(path: Path, keyword: string, values: readonly Value[]): Finding {
  const [only] = values;
  const quoted = quoteValue([...values] as Json[])
    .slice(1)
    .replace(/\]$/, '');
  const message = values.length === 1 ? `must be ${quoteValue(only ?? null)}` : `must be one of ${quoted}`;
  return { path, keyword, values, message: values.length === 0 ? 'is not expected' : message };
}

/** Returns `1 item` or `2 items`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * Returns the findings to report for a value that fits none of its alternatives: those of the alternative that was probably
 * meant. `at` is the path of the value.
 */
export function nearestFindings(alternatives: readonly Finding[][], at: Path, keyword: string): Finding[] {
  const depth = at.length;
  const general = { path: at, keyword, message: 'fits none of the alternatives' };
  const tags = alternatives.map(findings => findings.find(finding => isTag(finding, depth)));
  const merged = mergedTags(tags);
  if (merged !== undefined) return [merged];
  const own = alternatives.map(findings => findings.find(({ path, types }) => path.length === depth && types));
  const types = own.flatMap(finding => finding?.types ?? []);
  const actual = own
    .find(finding => finding !== undefined)
    ?.message.split(', not ')
    .at(-1);
  if (own.every(finding => finding !== undefined) && actual !== undefined) {
    const { message, ...finding } = wrongType(at, types, '');
    return [{ ...finding, keyword, message: `${message}${actual}` }];
  }
  const distance = (findings: readonly Finding[], index: number): number =>
    findings.length + (own[index] === undefined ? 0 : 1_000) + (tags[index] === undefined ? 0 : 100);
  const ranked = alternatives
    .map((findings, index) => ({ findings, far: distance(findings, index) }))
    .filter(({ findings }) => findings.length > 0)
    .sort((a, b) => a.far - b.far);
  return ranked[0]?.findings.slice() ?? [general];
}

/** Whether a finding is about the value, or the field of an object, that tells alternatives apart. */
const isTag = ({ path, values }: Finding, depth: number): boolean => values !== undefined && path.length <= depth + 1;

/** Returns one finding for alternatives that all demand another value at the same place. */
function mergedTags(tags: readonly (Finding | undefined)[]): Finding | undefined {
  const [first] = tags;
  if (first === undefined) return undefined;
  const place = first.path.join('/');
  if (!tags.every(tag => tag !== undefined && tag.path.join('/') === place)) return undefined;
  return wrongValue(
    first.path,
    'enum',
    tags.flatMap(tag => tag?.values ?? []),
  );
}

/** Returns a name as a message says it. */
export const shortName = (name: string): string => (/^[\w$-]{1,100}$/.test(name) ? name : quoteValue(name, 100));
