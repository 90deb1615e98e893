import { isObject } from '@/server/platform/json.ts';
import { parseJson } from '@/server/platform/json-text.ts';
import { readRules } from './read-rules.ts';
import { OPERATORS, printRules, type RuleGroup, type RuleNode } from './rules.ts';

/** Returns rules as text to keep while some are unfinished; null if the expression contains all rules. */
export function keptText(rules: RuleGroup): string | null {
  const written = readRules(printRules(rules));
  return JSON.stringify(written) === JSON.stringify(rules) ? null : JSON.stringify(rules);
}

/** Reads kept rules; null if there are none, or if the expression has changed since. */
export function readKept(text: string | undefined, expression: string): RuleGroup | null {
  if (text === undefined) return null;
  try {
    const kept: unknown = parseJson(text);
    return isGroup(kept) && printRules(kept) === expression ? kept : null;
  } catch {
    return null;
  }
}

const isGroup = (value: unknown): value is RuleGroup =>
  isObject(value) &&
  value.kind === 'group' &&
  (value.join === 'and' || value.join === 'or') &&
  Array.isArray(value.rules) &&
  value.rules.every(isNode);

const isNode = (value: unknown): value is RuleNode => isGroup(value) || isRule(value);

const isRule = (value: unknown): boolean =>
  isObject(value) &&
  value.kind === 'rule' &&
  typeof value.field === 'string' &&
  OPERATORS.some(operator => operator === value.operator) &&
  isValue(value.value) &&
  Array.isArray(value.list) &&
  value.list.every(isValue);

function isValue(value: unknown): boolean {
  if (!isObject(value)) return false;
  switch (value.kind) {
    case 'text':
    case 'number':
      return typeof value.text === 'string';
    case 'truth':
      return typeof value.value === 'boolean';
    case 'nothing':
      return true;
    case 'field':
      return typeof value.path === 'string';
    default:
      return false;
  }
}
