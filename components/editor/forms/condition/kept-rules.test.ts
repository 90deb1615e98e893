import { expect, test } from 'vitest';
import { keptText, readKept } from './kept-rules.ts';
import { emptyRule, printRules, type RuleGroup } from './rules.ts';

const rule = {
  ...emptyRule(),
  field: 'input.total',
  operator: 'at_least',
  value: { kind: 'number', text: '5' },
} as const;
const unfinished: RuleGroup = {
  kind: 'group',
  join: 'and',
  rules: [rule, { ...emptyRule(), field: 'input.region' }, emptyRule()],
};

test('unfinished rules are kept in addition to the expression of the finished rules', () => {
  const text = keptText(unfinished);
  expect(readKept(text ?? '', printRules(unfinished))).toEqual(unfinished);
  expect(keptText({ ...unfinished, rules: [rule] })).toBeNull();
});

test('kept rules are ignored once the expression has changed, or if they are invalid', () => {
  const text = keptText(unfinished) ?? '';
  expect(readKept(text, 'input.total >= 6')).toBeNull();
  const others = [
    undefined,
    '',
    '{',
    '[]',
    '{"kind":"group","join":"and","rules":[{"kind":"rule"}]}',
    '{"kind":"group","rules":[]}',
  ];
  expect(others.map(each => readKept(each, ''))).toEqual(others.map(() => null));
});
