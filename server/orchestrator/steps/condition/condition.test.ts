import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { JsonMap } from '../../core/index.ts';
import { CelError, CelSyntaxError, expression } from '../../languages/cel/index.ts';
import { LuaPool } from '../../languages/lua/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { condition } from './condition.ts';

const pool = new LuaPool({ workers: 1 });
afterAll(() => pool.close());

const input: JsonMap = {
  n: 1,
  f: 1.5,
  s: 'abc',
  list: [1, 2, 3],
  o: { a: null, b: { c: true } },
  big: Array.from({ length: 2000 }, (_, n) => n),
  long: 'a'.repeat(100_000),
};
const scope = {
  input,
  result: (step: string) => {
    if (step === 'no') throw new Error('no ancestor');
    return { ok: true, id: step };
  },
  ancestors: () => new Set(['a', 'odd-id']),
};
const evaluate = (text: string) => expression(text).evaluate(scope);

describe('expressions', () => {
  test.each([
    'input.n + 1 > 1.9',
    'input.f + 1 > 2.4',
    'input.n == 1.0',
    '1 == 1u',
    '7 / 2 == 3.5',
    '6 / 2 == 3',
    '7 % 2 == 1',
    '-input.n == -1',
    'input.list[input.n] == 2',
    'input.list == [1, 2, 3]',
    '{"a": 1} == {"a": 1.0}',
    '2 in input.list',
    '"s" in input',
    '!("__proto__" in input)',
    'has(input.o.a)',
    '!has(input.o.z.y)',
    '!has(input.constructor)',
    'input.o.a == null',
    '"1" != 1',
    'true || input.gone',
    'input.gone || true',
    '!(false && input.gone)',
    'input.list.all(x, x > 0)',
    'input.list.exists_one(x, x == 2)',
    'input.list.map(x, x * 2) == [2, 4, 6]',
    'input.list.filter(x, x > 1).size() == 2',
    'input.list.exists(x, input.list.exists(y, x + y == 6))',
    'input.list.map(x, x > 1, x + 1) == [3, 4]',
    'steps.a.result.ok',
    'steps["odd-id"].result.id == "odd-id"',
    'steps["o" + "dd-id"].result.ok',
    'size(steps) == 2',
    'size("héß") == 3',
    'input.s.matches("^[a-c]+$")',
    'input.s.startsWith("ab") && input.s.upperAscii() == "ABC"',
    '"a,b".split(",").join("-") == "a-b"',
    'timestamp("2026-01-01T00:00:00Z") + duration("36h") > timestamp("2026-01-02T00:00:00Z")',
    'int("42") == 42 && string(1) == "1"',
    'type(1) == "int"',
    'input.n > 0 ? true : false',
    '"1" < "2"',
  ])('%s is true', text => expect(evaluate(text)).toBe(true));
  test.each([
    'input.gone',
    'input.__proto__',
    'input.s.length',
    'input.list[3]',
    'input.list[-1]',
    'input.list[0.5]',
    'input.n + "a"',
    'input.n < "a"',
    '1 / 0',
    'input.n && true',
    '"a".matches("(a)\\\\1")',
    'steps["no"].result',
    'input.n()',
    '-"a"',
    '[1][{}]',
    'input.o.b.c.d',
  ])('%s is an error of the expression', text => {
    try {
      expect(evaluate(text)).toBe('never');
    } catch (error) {
      expect(error instanceof CelError || error instanceof CelSyntaxError).toBe(true);
    }
  });
  test.each([
    '',
    '1 +',
    'foo',
    'eval("1")',
    'input.constructor("x")',
    'process.env',
    'base64.no("x")',
    'base64',
    '18446744073709551616',
    '[1].map(1, 2)',
    'has(input)',
    'x'.repeat(5000),
    '('.repeat(500),
    `${'!'.repeat(4000)}true`,
  ])('a malformed expression is refused: %s', text => expect(() => expression(text).evaluate(scope)).toThrow());
  test.each([
    'input.big.all(x, !input.big.exists(y, x + y < 0))',
    'input.big.map(a, input.big.map(b, input.big.map(c, a)))',
    '[input.long].map(x, x.replace("a", x))',
    'input.big.map(x, input.long + input.long) == []',
    'input.long.matches("(a+)+b" + input.s)',
  ])('%s is stopped by its budget', text =>
    expect(() => evaluate(text)).toThrow(expect.objectContaining({ code: 'expression_too_costly' })),
  );
  test('any text parses or is refused, and nothing else is thrown', () => {
    const piece = fc.constantFrom(
      'input',
      '.',
      'n',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '"a"',
      '1',
      '+',
      '-',
      '!',
      '?',
      ':',
      ',',
      'in',
      '&&',
      '==',
      'has',
      'size',
      'map',
      ' ',
      'steps',
      'x',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), pieces => {
        try {
          expression(pieces.join('')).evaluate(scope);
        } catch (error) {
          expect(error instanceof CelError || error instanceof CelSyntaxError).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the step', () => {
  const run = (fields: JsonMap, more: Partial<Attempt> = {}, signal = new AbortController().signal) => {
    const attempt: Attempt = {
      ...scope,
      run: { id: 'r', workflowId: 'w', version: 1, tenantId: 't', projectId: 'p' },
      step: { id: 's', type: 'condition', ...fields },
      attempt: 1,
      now: 0,
      log: () => {},
      ...more,
    };
    return condition(pool).execute(attempt, signal);
  };
  test('branches', async () => {
    expect(await run({ expression: 'input.n == 1' })).toEqual({
      kind: 'completed',
      result: { value: true, branch: 'then' },
    });
    expect(await run({ expression: 'input.n == 2' })).toEqual({
      kind: 'completed',
      result: { value: false, branch: 'else' },
    });
  });
  test('fails with its rendered message', async () => {
    expect(await run({ expression: 'input.n == 2', mode: 'validate', message: 'n is {{input.n}}' })).toEqual({
      kind: 'failed',
      retryable: false,
      error: { code: 'condition_not_met', message: 'n is 1' },
    });
    expect(await run({ expression: 'input.n == 1', mode: 'validate' })).toMatchObject({ kind: 'completed' });
  });
  test.each([
    ['input.n', 'expression_not_boolean'],
    ['input.gone', 'expression_failed'],
    ['input.n ==', 'expression_malformed'],
    [1, 'invalid_step'],
  ])('%s fails with %s', async (text, code) => {
    expect(await run({ expression: text })).toMatchObject({ kind: 'failed', error: { code } });
  });

  test('evaluates a large expression in a worker, with the data that it reads and the message of a large result', async () => {
    const evaluations = vi.spyOn(pool, 'evaluate');
    const large = { text: 'x'.repeat(400_000), list: Array.from({ length: 5_000 }, (_, n) => n) };
    let isReadable = true;
    const attempt: Partial<Attempt> = {
      result: () => {
        if (!isReadable) throw new Error('the result is not loaded');
        return large;
      },
      resultText: () => (isReadable ? JSON.stringify(large) : undefined),
    };
    const sum = 'steps.a.result.list.filter(x, x % 2 == input.n).size()';
    const running = run({ expression: `${sum} == 2500` }, attempt);
    // The executor also releases large results at the first await.
    isReadable = false;
    expect(await running).toMatchObject({ kind: 'completed', result: { branch: 'then' } });
    isReadable = true;
    const fields = { mode: 'validate', message: '{{steps.a.result.list[1]}}' };
    const validating = run({ ...fields, expression: `${sum} == 1` }, attempt);
    isReadable = false;
    expect(await validating).toMatchObject({ kind: 'failed', error: { code: 'condition_not_met', message: '1' } });
    expect(evaluations).toHaveBeenCalledTimes(2);
    evaluations.mockRestore();
  });

  test.each([
    ['input.big.map(x, x * 2).size()', 'expression_not_boolean'],
    ['input.big.all(x, input.big.exists(y, y == x))', 'expression_too_costly'],
    ['input.big.map(x, x * 2)[2000]', 'expression_failed'],
  ])('%s fails in a worker with %s', async (expression, code) => {
    expect(await run({ expression })).toMatchObject({ kind: 'failed', error: { code } });
  });

  test('ends when its signal aborts, wherever the expression is evaluated', async () => {
    const ended = AbortSignal.abort();
    expect(await run({ expression: 'input.big.all(x, x * 2 >= 0 && x * 3 >= 0)' }, {}, ended)).toMatchObject({
      kind: 'failed',
      error: { code: 'lua_aborted' },
    });
  });

  test('refuses to send a worker more than it can hold', async () => {
    const result = () => 'x'.repeat(3 * 1024 * 1024);
    const expression = '["a", "b", "c"].all(id, size(steps[id].result) > 0)';
    const attempt = { result, resultText: () => JSON.stringify(result()), ancestors: () => new Set(['a', 'b', 'c']) };
    expect(await run({ expression }, attempt)).toMatchObject({
      kind: 'failed',
      error: { code: 'expression_too_costly' },
    });
  });

  test('reports the results that it reads, and all of them if it does not name them', () => {
    const resultsRead = (expression: string) => condition(pool).reads?.({ id: 's', type: 'condition', expression });
    expect(resultsRead('steps.a.result == 1 && steps["b"].result == 2')).toEqual(['a', 'b']);
    expect(resultsRead('steps[input.s].result == 1')).toBe('all');
    expect(resultsRead('size(steps) == 1')).toBe('all');
  });
});
