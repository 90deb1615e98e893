import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expression } from '@/server/orchestrator/languages/cel/index.ts';
import { readRules } from './read-rules.ts';
import {
  emptyRule,
  isNumberText,
  MAX_DEPTH,
  OPERATORS,
  operandOf,
  otherJoin,
  printPath,
  printRules,
  type Rule,
  type RuleGroup,
  type RuleNode,
  type RuleValue,
} from './rules.ts';

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'total', 'in', 'true', 'null', 'unit-price', 'odd name', '__proto__', '"', 'ключ'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const tail = fc.array(fc.oneof(name, fc.nat(20)), { maxLength: 3 });
const path = fc.oneof(
  fc
    .tuple(fc.constantFrom('input', 'item'), name, tail)
    .map(([root, first, rest]) => printPath([root, first, ...rest])),
  fc.tuple(name, tail).map(([id, rest]) => printPath(['steps', id, 'result', ...rest])),
);
const number = fc
  .oneof(fc.integer().map(String), fc.double({ noNaN: true, noDefaultInfinity: true }).map(String))
  // Excludes a number that begins with "-0": it is written as "-0", which CEL reads as 0.
  .filter(text => isNumberText(text) && !/^-0(\.0)?$/.test(text));
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('', '//', '"', '\\', "'", '{{', '\n'),
);
const value: fc.Arbitrary<RuleValue> = fc.oneof(
  text.map((each): RuleValue => ({ kind: 'text', text: each })),
  number.map((each): RuleValue => ({ kind: 'number', text: each })),
  fc.boolean().map((each): RuleValue => ({ kind: 'truth', value: each })),
  fc.constant<RuleValue>({ kind: 'nothing' }),
  path.map((each): RuleValue => ({ kind: 'field', path: each })),
);
const textValue = value.filter(({ kind }) => kind === 'text' || kind === 'field');
const rule: fc.Arbitrary<Rule> = fc
  .record({
    field: path,
    operator: fc.constantFrom(...OPERATORS),
    value,
    textValue,
    list: fc.array(value, { minLength: 1, maxLength: 3 }),
  })
  .map(({ field, operator, value, textValue, list }) => {
    const operand = operandOf(operator);
    const blank = emptyRule();
    return {
      kind: 'rule',
      field,
      operator,
      value: operand === 'value' ? value : operand === 'text' ? textValue : blank.value,
      list: operand === 'list' ? list : blank.list,
    };
  });

const groupOf = (join: RuleGroup['join'], depth: number, minLength: number): fc.Arbitrary<RuleGroup> => {
  const node: fc.Arbitrary<RuleNode> =
    depth === MAX_DEPTH ? rule : fc.oneof({ weight: 3, arbitrary: rule }, groupOf(otherJoin(join), depth + 1, 2));
  return fc.array(node, { minLength, maxLength: 4 }).map(rules => ({ kind: 'group', join, rules }));
};
/** A single rule needs no join, and a single group is the condition itself. */
const condition = fc.oneof(
  groupOf('and', 1, 2),
  groupOf('or', 1, 2),
  rule.map((each): RuleGroup => ({ kind: 'group', join: 'and', rules: [each] })),
);

const outcome = (text: string, scope: Parameters<ReturnType<typeof expression>['evaluate']>[0]) => {
  try {
    return { value: expression(text).evaluate(scope) };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

describe('the condition builder', () => {
  test('reads back every group of rules that it writes', () => {
    fc.assert(
      fc.property(condition, group => {
        expect(readRules(printRules(group))).toEqual(group);
      }),
      { numRuns: 2_000 },
    );
  });

  test('writes only expressions that the server accepts', () => {
    fc.assert(
      fc.property(condition, group => void expression(printRules(group))),
      { numRuns: 500 },
    );
  });

  const leaf = fc.constantFrom(
    ...[
      'input.a',
      'input["b"]',
      '!input.a',
      'input.n > 1',
      'input.n >= 1.0',
      '1 < input.n',
      'input.n == -2',
      '!!input.a',
    ],
    ...[
      'size(input.list) == 0',
      'size(input.list) > 0',
      '"x" in input.list',
      'input.n in [1, 2u, 3]',
      'has(input.a.b)',
    ],
    ...[
      '!(input.n in [1])',
      "input.text.contains('x')",
      'input.text.matches(r"^x\\d")',
      'input.missing',
      'steps.s.result',
    ],
    ...[
      'input.list[0] == "x"',
      'input.n + 1 > 2',
      'input.n == null',
      'steps["s"].result.ok == true',
      'true',
      '"x" == "x"',
    ],
    ...[
      'has(steps.s.error)',
      '!has(input.a)',
      'input.list.exists(x, x == "x")',
      'input.a ? true : false',
      '!(1 == input.n)',
    ],
  );
  const { text: written } = fc.letrec<{ text: string }>(tie => ({
    text: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc
        .tuple(tie('text'), fc.constantFrom('&&', '||'), tie('text'), fc.boolean())
        .map(([a, join, b, brackets]) => (brackets ? `(${a}) ${join} (${b})` : `${a} ${join} ${b}`)),
    ),
  }));
  const input = fc.record(
    {
      a: fc.oneof(fc.boolean(), fc.constant({ b: 1 })),
      b: fc.boolean(),
      n: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(null)),
      text: fc.constantFrom('x', 'x1', ''),
      list: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    },
    { requiredKeys: [] },
  );

  test('keeps the meaning of every expression that it shows', () => {
    let shown = 0;
    fc.assert(
      fc.property(written, input, fc.boolean(), (text, given, ok) => {
        const read = readRules(text);
        if ('reason' in read) return;
        shown++;
        const scope = { input: given, result: () => ({ ok }), ancestors: () => new Set(['s']), item: null };
        expect(outcome(printRules(read), scope)).toEqual(outcome(text, scope));
      }),
      { numRuns: 5_000 },
    );
    expect(shown).toBeGreaterThan(500);
  });

  test('refuses an expression that says more than rules can', () => {
    const richer = ['input.n + 1 > 2', 'input.a ? true : false', '!(input.a && input.b)', 'input.list.all(x, x > 1)'];
    for (const text of [...richer, 'input.a // why', '1 < input.n', 'true', 'input.n in []', 'steps == input.a'])
      expect(readRules(text), text).toEqual({ reason: 'richer' });
    const deep = 'input.a && (input.b || (input.c && (input.d || input.e)))';
    expect(readRules(deep)).toEqual({ reason: 'richer' });
    expect(readRules('input.a && (input.b || (input.c && input.d))')).toMatchObject({ kind: 'group' });
    for (const text of ['input.a &&', '(', 'input.a =='])
      expect(readRules(text), text).toEqual({ reason: 'unfinished' });
  });

  test('leaves out unfinished rules, with their brackets', () => {
    const total: Rule = {
      ...emptyRule(),
      field: 'input.total',
      operator: 'greater',
      value: { kind: 'number', text: '5' },
    };
    const half: Rule = { ...total, value: { kind: 'number', text: '5.' } };
    const group: RuleGroup = { kind: 'group', join: 'or', rules: [total, half] };
    expect(printRules({ kind: 'group', join: 'and', rules: [emptyRule(), group, half] })).toBe('input.total > 5');
    expect(printRules({ kind: 'group', join: 'and', rules: [emptyRule()] })).toBe('');
    const text = (value: RuleValue): string =>
      printRules({
        kind: 'group',
        join: 'and',
        rules: [{ ...total, field: ' input.unit-price ', operator: 'equals', value }],
      });
    expect(text({ kind: 'field', path: 'steps.a-b.result' })).toBe('input["unit-price"] == steps["a-b"].result');
    expect(text({ kind: 'field', path: 'nothing.a' })).toBe('');
  });
});
