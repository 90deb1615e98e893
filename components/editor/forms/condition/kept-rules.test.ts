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

test('rules that are not finished are kept beside the expression of the others', () => {
  const text = keptText(unfinished);
  expect(readKept(text ?? '', printRules(unfinished))).toEqual(unfinished);
  expect(keptText({ ...unfinished, rules: [rule] })).toBeNull();
});

test('what was kept counts for nothing once the expression is another one, or where it is no rules', () => {
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
