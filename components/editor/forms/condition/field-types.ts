import { isObject } from '@/server/platform/json.ts';
import type { Json } from '../../../../server/domains/workflows/edits/index.ts';
import type { CompletionData } from '../../code/example-values.ts';
import { OPERATORS, type Operator, printPath } from './rules.ts';

/** The value type of a field, as known from the input schema, tests and runs. */
export type FieldType = 'text' | 'number' | 'truth' | 'list' | 'object' | 'unknown';

export type FieldChoice = {
  path: string;
  /** The source of the field: “Input”, or the name of the step. */
  group: string;
  /** The names of the field within the group: “customer › email”. */
  label: string;
  type: FieldType;
};

/** The maximum depth of the offered fields; deeper fields are typed as a path. */
const MAX_DEPTH = 4;
const MAX_CHOICES = 500;

export function typeOf(value: Json): FieldType {
  if (value === null) return 'unknown';
  if (Array.isArray(value)) return 'list';
  if (isObject(value)) return 'object';
  if (typeof value === 'boolean') return 'truth';
  return typeof value === 'string' ? 'text' : 'number';
}

/** Returns the fields that a condition can read: fields of the input, of earlier results, and of the item of a loop. */
export function fieldChoices({ input, steps, loop }: CompletionData): FieldChoice[] {
  const choices: FieldChoice[] = [];
  const add = (group: string, value: Json, path: readonly string[], names: readonly string[]) => {
    if (choices.length >= MAX_CHOICES) return;
    if (names.length > 0 || !isObject(value) || Object.keys(value).length === 0)
      choices.push({
        path: printPath(path),
        group,
        label: names.join(' › ') || 'the whole result',
        type: typeOf(value),
      });
    if (!isObject(value) || names.length >= MAX_DEPTH) return;
    for (const [name, each] of Object.entries(value)) add(group, each as Json, [...path, name], [...names, name]);
  };
  if (loop !== null) add('Item of the loop', loop.item, ['item'], []);
  if (isObject(input)) {
    for (const [name, each] of Object.entries(input)) add('Input', each as Json, ['input', name], [name]);
  }
  for (const { id, name, result } of steps) add(name, result, ['steps', id, 'result'], []);
  return choices;
}

const OPERATORS_BY_TYPE: Readonly<Record<FieldType, readonly Operator[]>> = {
  text: [
    ...(['equals', 'not_equals', 'contains', 'not_contains', 'starts_with', 'ends_with', 'matches', 'one_of'] as const),
    ...(['none_of', 'empty', 'not_empty', 'exists', 'not_exists'] as const),
  ],
  number: [
    ...(['equals', 'not_equals', 'greater', 'at_least', 'less', 'at_most', 'one_of', 'none_of'] as const),
    ...(['exists', 'not_exists'] as const),
  ],
  truth: ['true', 'false', 'equals', 'not_equals', 'exists', 'not_exists'],
  list: ['has_item', 'lacks_item', 'empty', 'not_empty', 'exists', 'not_exists'],
  object: ['empty', 'not_empty', 'exists', 'not_exists'],
  unknown: OPERATORS,
};

/** Returns the operators for a field type, always including the present operator. */
export function operatorsFor(type: FieldType, present: Operator): readonly Operator[] {
  const fitting = OPERATORS_BY_TYPE[type];
  return fitting.includes(present) ? fitting : [...fitting, present];
}

export const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  equals: 'equals',
  not_equals: 'is not',
  greater: 'is greater than',
  at_least: 'is at least',
  less: 'is less than',
  at_most: 'is at most',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  ends_with: 'ends with',
  matches: 'matches the pattern',
  one_of: 'is one of',
  none_of: 'is none of',
  has_item: 'has the item',
  lacks_item: 'does not have the item',
  empty: 'is empty',
  not_empty: 'is not empty',
  exists: 'exists',
  not_exists: 'does not exist',
  true: 'is true',
  false: 'is false',
};
