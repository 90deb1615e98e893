/**
 * The rules of the condition builder, in groups. A condition is written as CEL (`printRules`) and read from CEL (read-rules.ts); only the
 * expression of the step is saved.
 */

/** The operand of a rule. Numbers are kept as text, because they may have more digits than a double. */
export type RuleValue =
  | { kind: 'text'; text: string }
  | { kind: 'number'; text: string }
  | { kind: 'truth'; value: boolean }
  | { kind: 'nothing' }
  | { kind: 'field'; path: string };

export type Rule = { kind: 'rule'; field: string; operator: Operator; value: RuleValue; list: readonly RuleValue[] };
/** A nested group uses the other join: a nested group with the same join would have no effect. */
export type RuleGroup = { kind: 'group'; join: 'and' | 'or'; rules: readonly RuleNode[] };
export type RuleNode = Rule | RuleGroup;

export const OPERATORS = [
  'equals',
  'not_equals',
  'greater',
  'at_least',
  'less',
  'at_most',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'matches',
  'one_of',
  'none_of',
  'has_item',
  'lacks_item',
  'empty',
  'not_empty',
  'exists',
  'not_exists',
  'true',
  'false',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** The maximum depth of groups: the outermost group and two nested levels. */
export const MAX_DEPTH = 3;

export const COMPARISONS = {
  equals: '==',
  not_equals: '!=',
  greater: '>',
  at_least: '>=',
  less: '<',
  at_most: '<=',
} as const;
export const METHODS = {
  contains: 'contains',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
  matches: 'matches',
} as const;

/** Returns the kind of operand that an operator takes. */
export function operandOf(operator: Operator): 'none' | 'value' | 'text' | 'list' {
  switch (operator) {
    case 'equals':
    case 'not_equals':
    case 'greater':
    case 'at_least':
    case 'less':
    case 'at_most':
    case 'has_item':
    case 'lacks_item':
      return 'value';
    case 'contains':
    case 'not_contains':
    case 'starts_with':
    case 'ends_with':
    case 'matches':
      return 'text';
    case 'one_of':
    case 'none_of':
      return 'list';
    case 'empty':
    case 'not_empty':
    case 'exists':
    case 'not_exists':
    case 'true':
    case 'false':
      return 'none';
  }
}

export const emptyRule = (): Rule => ({
  kind: 'rule',
  field: '',
  operator: 'equals',
  value: { kind: 'text', text: '' },
  list: [],
});

export const otherJoin = (join: RuleGroup['join']): RuleGroup['join'] => (join === 'and' ? 'or' : 'and');

/** Writes the rules as CEL without unfinished rules. Returns an empty text if no rule is finished. */
export function printRules(group: RuleGroup): string {
  const written = group.rules.map(rule => printNode(rule)).filter(text => text !== '');
  return written.join(group.join === 'and' ? ' && ' : ' || ');
}

function printNode(node: RuleNode): string {
  if (node.kind === 'rule') return printRule(node);
  const text = printRules(node);
  return node.rules.filter(rule => printNode(rule) !== '').length > 1 ? `(${text})` : text;
}

/** Returns whether a rule is complete enough to be written. */
export const isFinished = (rule: Rule): boolean => printRule(rule) !== '';

function printRule(rule: Rule): string {
  const { field, operator } = rule;
  const path = pathOf(field);
  if (path === null) return '';
  switch (operator) {
    case 'equals':
    case 'not_equals':
    case 'greater':
    case 'at_least':
    case 'less':
    case 'at_most':
      return withValue(rule.value, value => `${path} ${COMPARISONS[operator]} ${value}`);
    case 'contains':
    case 'starts_with':
    case 'ends_with':
    case 'matches':
      return withValue(rule.value, value => `${path}.${METHODS[operator]}(${value})`);
    case 'not_contains':
      return withValue(rule.value, value => `!${path}.contains(${value})`);
    case 'one_of':
      return withList(rule.list, list => `${path} in ${list}`);
    case 'none_of':
      return withList(rule.list, list => `!(${path} in ${list})`);
    case 'has_item':
      return withValue(rule.value, value => `${value} in ${path}`);
    case 'lacks_item':
      return withValue(rule.value, value => `!(${value} in ${path})`);
    case 'empty':
      return `size(${path}) == 0`;
    case 'not_empty':
      return `size(${path}) > 0`;
    case 'exists':
      return isMember(path) ? `has(${path})` : '';
    case 'not_exists':
      return isMember(path) ? `!has(${path})` : '';
    case 'true':
      return path;
    case 'false':
      return `!${path}`;
  }
}

function withValue(value: RuleValue, print: (text: string) => string): string {
  const text = printValue(value);
  return text === '' ? '' : print(text);
}

function withList(list: readonly RuleValue[], print: (text: string) => string): string {
  const texts = list.map(printValue);
  return texts.length === 0 || texts.includes('') ? '' : print(`[${texts.join(', ')}]`);
}

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** CEL cannot read an integer with more digits. */
const MAX_DIGITS = 18;
/** Returns whether a text is a number in CEL syntax. */
export const isNumberText = (text: string): boolean =>
  NUMBER.test(text) &&
  (/[.eE]/.test(text) ? Number.isFinite(Number(text)) : text.replace('-', '').length <= MAX_DIGITS);

function printValue(value: RuleValue): string {
  switch (value.kind) {
    case 'text':
      return quoteText(value.text);
    case 'number':
      return isNumberText(value.text.trim()) ? value.text.trim() : '';
    case 'truth':
      return String(value.value);
    case 'nothing':
      return 'null';
    case 'field':
      return pathOf(value.path) ?? '';
  }
}

/** Returns a text as a CEL literal: CEL accepts all JSON escapes. Lone surrogates are replaced, because they cannot be sent. */
export const quoteText = (text: string): string => JSON.stringify(text.toWellFormed());

/** Reserved names of the CEL grammar, which cannot follow a dot. */
const RESERVED: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);
const ROOTS: ReadonlySet<string> = new Set(['input', 'steps', 'item', 'index']);
const SEGMENT = /^(?:\.([A-Za-z_][\w-]*)|\[(\d{1,15})\]|\[("(?:[^"\\]|\\.)*")\])/;

/**
 * Returns the names and indexes of a path such as `input.lines[0]["unit price"]`; null for a text that is not a path.
 */
export function segmentsOfPath(text: string): (string | number)[] | null {
  const root = /^(?:input|steps|item|index)(?![\w-])/.exec(text.trim())?.[0];
  if (root === undefined || !ROOTS.has(root)) return null;
  const segments: (string | number)[] = [root];
  let rest = text.trim().slice(root.length);
  while (rest !== '') {
    const found = SEGMENT.exec(rest);
    if (found === null) return null;
    const [whole, name, index, quoted] = found;
    const segment = index === undefined ? (name ?? readQuoted(quoted)) : Number(index);
    if (segment === null) return null;
    segments.push(segment);
    rest = rest.slice(whole.length);
  }
  return root === 'steps' && segments.length < 2 ? null : segments;
}

function readQuoted(text: string | undefined): string | null {
  try {
    const read: unknown = JSON.parse(text ?? '');
    return typeof read === 'string' ? read : null;
  } catch {
    return null;
  }
}

/** Writes a path in CEL: `input.unit-price` would be a subtraction, so it becomes `input["unit-price"]`. */
export function printPath([root, ...segments]: readonly (string | number)[]): string {
  const rest = segments.map(segment => {
    if (typeof segment === 'number') return `[${segment}]`;
    return /^[A-Za-z_]\w*$/.test(segment) && !RESERVED.has(segment) ? `.${segment}` : `[${quoteText(segment)}]`;
  });
  return `${root}${rest.join('')}`;
}

function pathOf(text: string): string | null {
  const segments = segmentsOfPath(text);
  return segments === null ? null : printPath(segments);
}

const isMember = (path: string) => /[.[]/.test(path);
