import type { JsonMap, JsonValue } from './events.ts';

const MAX_CHANGES = 20;
const MAX_VALUE_LENGTH = 200;

/** A place in the arguments of a call where a person changed the value; undefined: no value. */
type Change = { path: string; before: JsonValue | undefined; after: JsonValue | undefined };

/**
 * Returns who changed the arguments of a call, and how, for its model and for people; null if the answer to its
 * approval does not change them. `asked`: the arguments that the model gave.
 */
export function changeText(asked: JsonValue | undefined, approval: JsonValue): string | null {
  const { arguments: given, completed_by: by } = isObject(approval) ? approval : {};
  if (!isObject(given)) return null;
  const changes = [...changesOf('', asked, given)];
  if (changes.length === 0) return null;
  const left = changes.length - MAX_CHANGES;
  const lines = changes
    .slice(0, MAX_CHANGES)
    .map(({ path, before, after }) => `${path}: ${textShown(before)} → ${textShown(after)}`);
  const who = typeof by === 'string' && by !== '' ? by : 'A person';
  return `${who} changed the arguments. ${[...lines, ...(left > 0 ? [`${left} more`] : [])].join('; ')}`;
}

function* changesOf(path: string, before: JsonValue | undefined, after: JsonValue | undefined): Generator<Change> {
  if (isObject(before) && isObject(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const ownArgument = (of: JsonMap) => (Object.hasOwn(of, name) ? of[name] : undefined);
      yield* changesOf(path === '' ? name : `${path}.${name}`, ownArgument(before), ownArgument(after));
    }
  } else if (textOf(before) !== textOf(after)) yield { path: path === '' ? 'arguments' : path, before, after };
}

const textOf = (value: JsonValue | undefined): string | undefined =>
  value === undefined ? undefined : JSON.stringify(value);

function textShown(value: JsonValue | undefined): string {
  const text = textOf(value) ?? 'absent';
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…`;
}

const isObject = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
