import { afterAll, describe, expect, test } from 'vitest';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { LuaPool } from '../../languages/lua/index.ts';
import type { Attempt, Gathered, Outcome } from '../../ports/step-type.ts';
import { forEach, loopResult } from './for-each.ts';

const pool = new LuaPool({ workers: 1 });
afterAll(() => pool.close());
const type = forEach(pool);

type Given = { fields?: JsonMap; input?: JsonMap; results?: Record<string, JsonValue>; more?: Partial<Attempt> };

function execute(items: string, { fields = {}, input = {}, results = {}, more = {} }: Given = {}): Promise<Outcome> {
  const steps = [{ id: 'a', type: 'lua_script', script: 'return item' }];
  const attempt: Attempt = {
    run: { id: 'run', workflowId: 'workflow', version: 1, tenantId: 'acme', projectId: 'project' },
    step: { id: 'each', type: 'for_each', items, steps, ...fields },
    attempt: 1,
    now: 0,
    input,
    result: step => {
      if (!Object.hasOwn(results, step)) throw new Error(`${step} is no ancestor`);
      return results[step] ?? null;
    },
    ancestors: () => new Set(Object.keys(results)),
    log: () => {},
    ...more,
  };
  return type.execute(attempt, new AbortController().signal);
}
const itemsOf = async (...args: Parameters<typeof execute>) => {
  const outcome = await execute(...args);
  return outcome.kind === 'expanding' ? outcome.items : outcome;
};

describe('items', () => {
  const input = { list: [1, { n: 2 }, null], n: 1 };
  test.each<[string, JsonValue[]]>([
    ['{{input.list}}', [1, { n: 2 }, null]],
    ['{{ input.none ?? [7] }}', [7]],
    ['{{steps.before.result.rows}}', ['x', 'y']],
    ['input.list', [1, { n: 2 }, null]],
    ['[input.n, 2, "x"]', [1, 2, 'x']],
    ['steps.before.result.rows.map(row, {"row": row})', [{ row: 'x' }, { row: 'y' }]],
  ])('%s', async (items, expected) => {
    expect(await itemsOf(items, { input, results: { before: { rows: ['x', 'y'] } } })).toEqual(expected);
  });

  test('may come from the item of an outer loop', async () => {
    const more = { item: { item: { rows: [1, 2] }, index: 4 } };
    expect(await itemsOf('{{item.rows}}', { more })).toEqual([1, 2]);
    expect(await itemsOf('item.rows.map(row, row + index)', { more })).toEqual([5, 6]);
  });

  test('of a large expression are computed by a worker', async () => {
    const list = Array.from({ length: 4_000 }, (_, n) => n);
    const results = { before: list };
    const more = { item: { item: 1, index: 2 } };
    const items = await itemsOf('steps.before.result.map(n, n + item + index + input.one)', {
      input: { one: 1 },
      results,
      more,
    });
    expect(items).toEqual(list.map(n => n + 4));
  });

  test.each<[string, string, RegExp]>([
    ['{{input.n}}', 'items_not_list', /must give a list, but gives a number/],
    ['{{input.object}}', 'items_not_list', /an object/],
    ['{{input.nothing}}', 'items_not_list', /null/],
    ['"text"', 'items_not_list', /a string/],
    ['{{input.none}}', 'template_unresolved', /input\.none/],
    ['input.none', 'expression_failed', /"none"/],
    ['item.rows', 'expression_failed', /not in a loop/],
    ['{{item.rows}}', 'template_unresolved', /not in a loop/],
    ['x{{input.n}}', 'invalid_step', /one template/],
    ['[timestamp("2027-01-01T00:00:00Z")]', 'expression_failed', /timestamp is not JSON/],
    ['input.many.map(a, input.many.map(b, input.many))', 'expression_too_costly', /too much work/],
  ])('%s fails the step with %s', async (items, code, message) => {
    const many = Array.from({ length: 2_000 }, () => 1);
    const outcome = await execute(items, { input: { n: 1, object: {}, nothing: null, many } });
    expect(outcome).toMatchObject({ kind: 'failed', retryable: false, error: { code } });
    expect(outcome.kind === 'failed' ? outcome.error.message : '').toMatch(message);
  });
});

describe('the plan', () => {
  test('has the number of items, and defaults', async () => {
    expect(await execute('[1, 2]')).toEqual({
      kind: 'expanding',
      plan: { type: 'for_each', count: 2, concurrency: 1, on_item_error: 'fail' },
      items: [1, 2],
    });
    const fields = { concurrency: 100, on_item_error: 'continue' };
    expect(await execute('[1]', { fields })).toMatchObject({ plan: { concurrency: 100, on_item_error: 'continue' } });
  });

  test('is missing for an empty list', async () => {
    expect(await execute('[]')).toEqual({ kind: 'completed', result: { results: [], failed: 0 } });
  });
});

describe('the result', () => {
  const gathered = (over: Partial<Gathered>): Gathered => ({ last: ['a'], ends: [], failed: 0, ...over });
  test.each<[string, Gathered, JsonValue]>([
    [
      'of one last step is its result',
      gathered({ ends: [[1], null, [{ x: 1 }]], failed: 1 }),
      { results: [1, null, { x: 1 }], failed: 1 },
    ],
    [
      'of several are by id',
      gathered({ last: ['a', 'b'], ends: [[1, null], null], failed: 1 }),
      { results: [{ a: 1, b: null }, null], failed: 1 },
    ],
  ])('%s', (_, from, expected) => expect(loopResult(from)).toEqual(expected));

  test('is returned by the attempt that gathers', async () => {
    const more = { gathered: gathered({ ends: [['x']] }) };
    expect(await execute('{{input.none}}', { more })).toEqual({
      kind: 'completed',
      result: { results: ['x'], failed: 0 },
    });
  });
});

test('a step named __proto__ is treated like any other', () => {
  const result = loopResult({ last: ['__proto__', 'a'], ends: [[1, 2]], failed: 0 });
  expect(Object.keys(result.results[0] as object)).toEqual(['__proto__', 'a']);
});

test.each([
  ['{{steps.a.result}}', ['a']],
  ['steps.a.result.map(x, steps.b.result)', ['a', 'b']],
  ['{{input.x}}', []],
])('%s declares which results it reads', (items, expected) => {
  const step = { id: 'each', type: 'for_each', items, steps: [{ id: 'x', type: 'y', z: '{{steps.other.result}}' }] };
  expect([...(type.reads?.(step) ?? [])]).toEqual(expected);
});
