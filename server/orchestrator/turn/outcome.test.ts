import { expect, test } from 'vitest';
import { cleanJson } from '../../platform/clean-json.ts';
import { type JsonMap, type JsonValue, StoredValue } from '../core/index.ts';
import type { Outcome } from '../ports/step-type.ts';
import { LogBudget, MAX_LOG_BYTES } from './log-budget.ts';
import { endOfAttempt, MAX_RESULT_BYTES } from './outcome.ts';

const ATTEMPT = { step: 'a', attempt: 1, random: 0.5, of: { run: { id: 'run' }, now: 0 } };
const end = (result: unknown) => endOfAttempt(ATTEMPT, { kind: 'completed', result: result as JsonValue });

/** Returns why a result cannot be stored, or null. */
function resultProblem(result: unknown): { code: string } | null {
  const { command } = end(result);
  return command.type === 'attempt_failed' ? command.error : null;
}

test.each([
  ['nothing', undefined],
  ['a number that JSON does not have', { n: Number.NaN }],
  ['an integer of more than 64 bits', { n: 2n ** 64n }],
  ['a function', { f: () => 1 }],
  ['an object of a class', { at: new Date(0) }],
  ['nesting that is too deep', JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
])('%s cannot be a result', (_what, result) => {
  expect(resultProblem(result)?.code).toBe('result_not_json');
});

test('a cycle cannot be a result', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  expect(resultProblem(cycle)?.code).toBe('result_not_json');
});

test('1 MiB of JSON is accepted, one byte more is not', () => {
  expect(resultProblem('x'.repeat(MAX_RESULT_BYTES - 2))).toBeNull();
  expect(resultProblem('x'.repeat(MAX_RESULT_BYTES - 1))?.code).toBe('result_too_large');
  expect(resultProblem('ü'.repeat(MAX_RESULT_BYTES / 2))?.code).toBe('result_too_large');
});

test('all that JSON can represent is accepted: odd text, null objects, absent fields', () => {
  expect(resultProblem({ a: '\0\ud800', b: null, c: undefined, d: [1, 'x', { e: Object.create(null) }] })).toBeNull();
});

test('text that PostgreSQL cannot read is cleaned in every kind of outcome', () => {
  const bad = 'a\0b\ud83d';
  const clean = 'a\uFFFDb\uFFFD';
  const emoji = '😀';
  const result = { [bad]: [bad, { [emoji]: bad }], n: 18446744073709551615n, at: null };
  expect(end(result).command).toMatchObject({
    type: 'attempt_succeeded',
    result: { [clean]: [clean, { [emoji]: clean }], n: 18446744073709551615n, at: null },
  });
  const textOf = (outcome: Outcome) => JSON.stringify(endOfAttempt(ATTEMPT, outcome));
  const outcomes: Outcome[] = [
    { kind: 'completed', result: 'x'.repeat(20_000) + bad, log: [bad], digest: bad },
    { kind: 'failed', error: { code: 'e', message: bad }, retryable: false, log: [bad] },
    { kind: 'waiting', task: { title: bad } as never },
    { kind: 'expanding', plan: {} as never, items: [bad, { [bad]: 1 }] },
    { kind: 'calling', call: { workflowId: bad, version: 1, input: { [bad]: bad }, detach: false } },
  ];
  for (const outcome of outcomes) {
    expect(textOf(outcome)).toContain(clean);
    expect(textOf(outcome)).not.toMatch(/\\u0000|\\ud83d/);
  }
});

test('cleaned keys stay apart, and a clean value is not copied', () => {
  const keys = { 'a\0': 1, 'a\uFFFD': 2, 'a\ud800': 3, __proto__x: 4 };
  expect(Object.values(cleanJson(keys))).toEqual([1, 2, 3, 4]);
  expect(cleanJson({ n: [2 ** 60, 1e17, 1e300, 0.5] })).toEqual({ n: [1152921504606847000n, 10n ** 17n, 1e300, 0.5] });
  const clean = { a: ['😀', { b: 'c' }], d: 1n };
  expect(cleanJson(clean)).toBe(clean);
  const own = cleanJson(JSON.parse('{"__proto__":"\\u0000"}'));
  expect(Object.entries(own)).toEqual([['__proto__', '\uFFFD']]);
});

test('a result that cannot be stored fails the step permanently', () => {
  expect(endOfAttempt(ATTEMPT, { kind: 'completed', result: Number.NaN, log: ['l'] }).command).toMatchObject({
    type: 'attempt_failed',
    retryable: false,
    error: { code: 'result_not_json' },
    log: ['l'],
  });
});

test('64 KiB of log lines are kept for a step, and one line reports the cut', () => {
  const budget = new LogBudget();
  expect(budget.take('a', ['one', 'two'])).toEqual(['one', 'two']);
  const kept = budget.take(
    'a',
    Array.from({ length: 100 }, () => 'x'.repeat(1_000)),
  );
  expect(kept.length).toBeLessThan(70);
  expect(kept.join('\n').length).toBeLessThan(MAX_LOG_BYTES + 200);
  expect(kept.at(-1)).toContain('not kept');
  expect(budget.take('a', ['more'])).toEqual([]);
  expect(budget.take('b', ['more'])).toEqual(['more']);
});

test('a result over the threshold becomes a reference, and is serialized once', () => {
  const at = 'x'.repeat(16 * 1024 - 2);
  expect(end(at)).toMatchObject({ command: { result: at }, large: null });
  const above = `${at}x`;
  const { command, large } = end(above);
  expect(large).toEqual({ id: expect.any(String), json: JSON.stringify(above) });
  expect(command).toMatchObject({ type: 'attempt_succeeded', result: new StoredValue(large?.id ?? '', 16 * 1024 + 1) });
});

test('the items of a step that expands must be JSON, together at most as large as a result', () => {
  const plan = { type: 'for_each', count: 1, concurrency: 1, on_item_error: 'fail' } as const;
  const expanding = (item: JsonValue) => endOfAttempt(ATTEMPT, { kind: 'expanding', plan, items: [item] });
  const most = 'x'.repeat(MAX_RESULT_BYTES - 4);
  expect(expanding(most)).toMatchObject({ command: { type: 'attempt_expanding', items: [most] }, large: null });
  expect(expanding(`${most}x`).command).toMatchObject({
    type: 'attempt_failed',
    retryable: false,
    error: { code: 'items_too_large', message: "The step's items have 1048577 bytes of JSON; at most 1 MiB is kept." },
  });
  expect(expanding(Number.NaN).command).toMatchObject({ error: { code: 'items_not_json' } });
});

test('the details of an error are kept while the whole error fits in its event', () => {
  const errorWith = (details: unknown) => {
    const error = { code: 'c', message: 'm', details: details as JsonMap };
    const { command } = endOfAttempt(ATTEMPT, { kind: 'failed', error, retryable: false });
    return command.type === 'attempt_failed' ? command.error : null;
  };
  const others = JSON.stringify({ code: 'c', message: 'm', details: { text: '' } }).length;
  const fits = { text: 'x'.repeat(16 * 1024 - others) };
  expect(errorWith(fits)).toEqual({ code: 'c', message: 'm', details: fits });
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  for (const odd of [{ text: `${fits.text}x` }, { a: Number.NaN }, cyclic]) {
    expect(errorWith(odd)).toEqual({ code: 'c', message: 'm' });
  }
  const cleaned = { nul: '\uFFFD', half: '\uFFFD' };
  expect(errorWith({ nul: '\0', half: '\ud800' })).toEqual({ code: 'c', message: 'm', details: cleaned });
});
