import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../orchestrator/core/index.ts';
import { valueAt } from '../../../orchestrator/languages/value-at.ts';
import { type CheckInput, judge } from './checks.ts';

const result = { total: 3, name: 'Ada', list: [{ id: 1 }], none: null };
const check = (op: CheckInput['op'], path = '', value?: CheckInput['value']): CheckInput => ({
  step: 's',
  path,
  op,
  ...(value !== undefined && { value }),
});
const completed = { kind: 'completed' as const, result: result as JsonValue };
const never = () => false;

describe('a check', () => {
  test.each<[CheckInput['op'], string, CheckInput['value'] | undefined, boolean]>([
    ['equals', 'total', 3, true],
    ['equals', 'total', '3', false],
    ['equals', 'list', [{ id: 1 }], true],
    ['equals', 'none', null, true],
    ['equals', 'missing', null, false],
    ['not_equals', 'total', 4, true],
    ['not_equals', 'total', 3, false],
    ['not_equals', 'missing', 3, false],
    ['contains', 'name', 'd', true],
    ['contains', 'name', 'x', false],
    ['contains', 'list', { id: 1 }, true],
    ['contains', 'list', { id: 2 }, false],
    ['contains', 'total', 3, false],
    ['exists', 'list[0].id', undefined, true],
    ['exists', 'list[1]', undefined, false],
    ['exists', 'constructor', undefined, false],
    ['absent', 'list[1]', undefined, true],
    ['absent', 'none', undefined, false],
    ['at_least', 'total', 3, true],
    ['at_least', 'total', 4, false],
    ['at_most', 'total', 3, true],
    ['at_most', 'total', 2, false],
    ['at_least', 'name', 1, false],
    ['completed', '', undefined, true],
    ['skipped', '', undefined, false],
  ])('%s at "%s" with %j: %s', (op, path, value, holds) => {
    expect(judge(check(op, path, value), completed, never).result).toBe(holds ? 'proven' : 'failed');
  });

  test('of a step that did not complete fails with every operator', () => {
    for (const op of ['absent', 'not_equals', 'skipped', 'completed'] as const) {
      expect(judge(check(op, 'x', 1), undefined, never)).toMatchObject({ result: 'failed' });
    }
  });

  test('of a step that was skipped holds only for `skipped`', () => {
    expect(judge(check('skipped'), { kind: 'skipped' }, never).result).toBe('proven');
    for (const op of ['absent', 'not_equals', 'completed'] as const) {
      expect(judge(check(op, 'x', 1), { kind: 'skipped' }, never)).toMatchObject({ result: 'failed' });
    }
  });

  test('that depends on a stand-in is simulated or failed, but never proven', () => {
    expect(judge(check('equals', 'total', 3), completed, () => true).result).toBe('simulated');
    expect(judge(check('equals', 'total', 4), completed, () => true).result).toBe('failed');
  });

  test('shows the actual value unless it is long', () => {
    expect(judge(check('equals', 'total', 4), completed, never)).toMatchObject({ actual: 3 });
    const resultOfLength = (letters: number) => ({ kind: 'completed' as const, result: 'x'.repeat(letters) });
    expect(judge(check('exists'), resultOfLength(1_998), never)).toHaveProperty('actual');
    expect(judge(check('exists'), resultOfLength(1_999), never)).not.toHaveProperty('actual');
  });

  test.each<[string, JsonValue | undefined]>([
    ['', result],
    ['list[0]', { id: 1 }],
    ['list.0.id', 1],
    ['list[-1]', undefined],
    ['name.length', undefined],
    ['total.x', undefined],
    ['__proto__', undefined],
  ])('reads the path "%s"', (path, expected) => {
    expect(valueAt(result, path)).toEqual(expected);
  });
});
