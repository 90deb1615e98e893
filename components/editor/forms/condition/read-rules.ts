import { CelSyntaxError, type Node, parse } from '@/server/orchestrator/languages/cel/syntax.ts';
import {
  COMPARISONS,
  emptyRule,
  isNumberText,
  MAX_DEPTH,
  METHODS,
  type Operator,
  otherJoin,
  printPath,
  type Rule,
  type RuleGroup,
  type RuleNode,
  type RuleValue,
} from './rules.ts';

/** The reason why the builder cannot show an expression: it says more than rules can (`richer`), or it is not complete yet. */
export type Unreadable = { reason: 'richer' | 'unfinished' };

/** Thrown within this file if an expression says more than rules can. */
class TooComplexError extends Error {}

/** Parses an expression as rules. The empty text is a group without rules. */
export function readRules(text: string): RuleGroup | Unreadable {
  if (text.trim() === '') return { kind: 'group', join: 'and', rules: [] };
  // The syntax tree has no comments, so they would be lost.
  if (hasComment(text)) return { reason: 'richer' };
  try {
    const node = parse(text);
    const join = node.op === '||' ? 'or' : 'and';
    return { kind: 'group', join, rules: rulesOf(node, join, 1) };
  } catch (error) {
    if (error instanceof TooComplexError) return { reason: 'richer' };
    if (error instanceof CelSyntaxError) return { reason: 'unfinished' };
    throw error;
  }
}

const hasComment = (text: string): boolean => text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '').includes('//');

const SYMBOLS = { and: '&&', or: '||' } as const;

/**
 * Returns the operands of a chain of one operator, regardless of brackets: `a && (b && c)` is the same as `a && b &&
 * c`.
 */
function rulesOf(node: Node, join: RuleGroup['join'], depth: number): RuleNode[] {
  if (node.op === SYMBOLS[join]) {
    const [left, right] = node.args as [Node, Node];
    return [...rulesOf(left, join, depth), ...rulesOf(right, join, depth)];
  }
  const other = otherJoin(join);
  if (node.op !== SYMBOLS[other]) return [ruleOf(node)];
  if (depth === MAX_DEPTH) throw new TooComplexError();
  return [{ kind: 'group', join: other, rules: rulesOf(node, other, depth + 1) }];
}

const ruleWith = (field: string, operator: Operator, more: Partial<Rule> = {}): Rule => ({
  ...emptyRule(),
  field,
  operator,
  ...more,
});

const OPERATOR_OF: ReadonlyMap<string, Operator> = new Map(
  Object.entries(COMPARISONS).map(([name, symbol]) => [symbol, name as Operator]),
);
const METHOD_OF: ReadonlyMap<string, Operator> = new Map(
  Object.entries(METHODS).map(([name, method]) => [method, name as Operator]),
);
const NEGATED: Readonly<Partial<Record<Operator, Operator>>> = {
  contains: 'not_contains',
  one_of: 'none_of',
  has_item: 'lacks_item',
  exists: 'not_exists',
  true: 'false',
};

function ruleOf(node: Node): Rule {
  switch (node.op) {
    case '!_': {
      const rule = ruleOf(node.args as Node);
      const operator = NEGATED[rule.operator];
      if (operator === undefined) throw new TooComplexError();
      return { ...rule, operator };
    }
    case 'in':
      return memberRule(...(node.args as [Node, Node]));
    case 'call':
      return existsRule(...(node.args as [string, Node[]]));
    case 'rcall': {
      const [name, receiver, args] = node.args as [string, Node, Node[]];
      const operator = METHOD_OF.get(name);
      const [arg] = args;
      if (operator === undefined || arg === undefined || args.length !== 1) throw new TooComplexError();
      return ruleWith(pathOf(receiver), operator, { value: textOf(arg) });
    }
    case '.':
    case '[]':
    case 'id':
      return ruleWith(pathOf(node), 'true');
    default: {
      const operator = OPERATOR_OF.get(node.op);
      if (operator === undefined) throw new TooComplexError();
      const [left, right] = node.args as [Node, Node];
      return left.op === 'call'
        ? sizeRule(operator, left, right)
        : ruleWith(pathOf(left), operator, { value: literalOf(right) });
    }
  }
}

function memberRule(left: Node, right: Node): Rule {
  if (right.op === 'list') {
    const list = (right.args as Node[]).map(literalOf);
    if (list.length === 0) throw new TooComplexError();
    return ruleWith(pathOf(left), 'one_of', { list });
  }
  return ruleWith(pathOf(right), 'has_item', { value: literalOf(left) });
}

function existsRule(name: string, [member]: Node[]): Rule {
  if (name !== 'has' || member === undefined || (member.op !== '.' && member.op !== '[]')) throw new TooComplexError();
  return ruleWith(pathOf(member), 'exists');
}

/** Reads `size(x) == 0` and `size(x) > 0`. */
function sizeRule(operator: Operator, { args }: Node, right: Node): Rule {
  const [name, [operand, ...others]] = args as [string, Node[]];
  const isZero = right.op === 'value' && Number(right.args) === 0 && typeof right.args === 'bigint';
  if (name !== 'size' || operand === undefined || others.length > 0 || !isZero) throw new TooComplexError();
  if (operator === 'equals') return ruleWith(pathOf(operand), 'empty');
  if (operator === 'greater') return ruleWith(pathOf(operand), 'not_empty');
  throw new TooComplexError();
}

const ROOTS: ReadonlySet<unknown> = new Set(['input', 'steps', 'item', 'index']);

function segmentsOf(node: Node): (string | number)[] {
  if (node.op === 'id') {
    if (!ROOTS.has(node.args)) throw new TooComplexError();
    return [node.args as string];
  }
  if (node.op !== '.' && node.op !== '[]') throw new TooComplexError();
  const [object, key] = node.args as [Node, Node | string];
  const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : undefined;
  if (typeof name === 'string') return [...segmentsOf(object), name];
  if (typeof name !== 'bigint' || name < 0n || name > Number.MAX_SAFE_INTEGER) throw new TooComplexError();
  return [...segmentsOf(object), Number(name)];
}

function pathOf(node: Node): string {
  const segments = segmentsOf(node);
  // No rule compares `steps`, the map of all results; a rule compares the result of a step named by its id.
  if (segments[0] === 'steps' && typeof segments[1] !== 'string') throw new TooComplexError();
  return printPath(segments);
}

function textOf(node: Node): RuleValue {
  const value = literalOf(node);
  if (value.kind !== 'text' && value.kind !== 'field') throw new TooComplexError();
  return value;
}

function literalOf(node: Node): RuleValue {
  if (node.op === '-_') {
    const value = literalOf(node.args as Node);
    if (value.kind !== 'number' || value.text.startsWith('-')) throw new TooComplexError();
    return { kind: 'number', text: `-${value.text}` };
  }
  if (node.op !== 'value') return { kind: 'field', path: pathOf(node) };
  const { args } = node;
  if (typeof args === 'string') return { kind: 'text', text: args };
  if (typeof args === 'boolean') return { kind: 'truth', value: args };
  if (args === null) return { kind: 'nothing' };
  if (typeof args !== 'number' && typeof args !== 'bigint') throw new TooComplexError();
  const text = String(args);
  if (!isNumberText(text)) throw new TooComplexError();
  return { kind: 'number', text };
}
