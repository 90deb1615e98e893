import { readdirSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { afterAll, describe, expect, test } from 'vitest';
import { LuaPool } from './index.ts';
import { TenantQueue } from './queue.ts';
import { MAX_EXTRA_WORKERS } from './turns.ts';

const pool = new LuaPool({ workers: 2 });
afterAll(() => pool.close());
const data = () => ({ values: [] });
const ENDLESS = 'while true do end';
const outcome = async (script: string, tenant = 'acme') => {
  const run = await pool.run(script, data, { tenant });
  return run.ok ? JSON.parse(run.result) : run.code;
};

test.each([
  ['an endless loop', 'while true do end'],
  ['one inside pcall', 'while true do pcall(error) end'],
  ['one in a coroutine', 'coroutine.wrap(function() while true do end end)()'],
  [
    'one in a finalizer',
    'setmetatable({}, {__gc = function() while true do end end}) for i = 1, 1e9 do local t = {} end',
  ],
  [
    'one in a closed variable',
    'do local x <close> = setmetatable({}, {__close = function() while true do end end}) end',
  ],
  ['one while the error is described', 'error(setmetatable({}, {__tostring = function() while true do end end}))'],
  ['memory errors swallowed for ever', 'while true do pcall(string.rep, "x", 1 << 30) end'],
  ['a pattern bomb', 'return (string.rep("a", 300)):find(string.rep("a*", 30) .. "b")'],
  ['a slow sort', 'local t = {} for i = 1, 1e6 do t[i] = i end while true do table.sort(t) end'],
])('%s is ended by the abort while other scripts run', async (_, script) => {
  const abort = new AbortController();
  const endless = pool.run(script, data, { tenant: 'acme', signal: abort.signal });
  // Jobs in the same queue and on other workers: all must end although one worker is blocked.
  const others = await Promise.all(Array.from({ length: 40 }, (_, n) => outcome(`return ${n}`)));
  expect(others).toEqual(Array.from({ length: 40 }, (_, n) => n));
  abort.abort();
  expect(await endless).toMatchObject({ ok: false, code: 'lua_aborted' });
  expect(await outcome('return 1')).toBe(1);
});

test('with every worker blocked, all jobs end after the abort', async () => {
  const abort = new AbortController();
  const endless = Array.from({ length: 6 }, () => pool.run(ENDLESS, data, { tenant: 'acme', signal: abort.signal }));
  const behind = Array.from({ length: 50 }, (_, n) => outcome(`return ${n}`));
  const first = await Promise.race([new Promise(resolve => setImmediate(resolve, 'nothing')), ...behind]);
  expect(first).toBe('nothing');
  abort.abort();
  for (const run of await Promise.all(endless)) expect(run).toMatchObject({ code: 'lua_aborted' });
  expect(await Promise.all(behind)).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

test('with an aborted signal nothing runs, and a closed pool still answers', async () => {
  expect(await pool.run('return 1', data, { tenant: 'acme', signal: AbortSignal.abort() })).toMatchObject({
    code: 'lua_aborted',
  });
  const other = new LuaPool({ workers: 1 });
  const running = other.run(ENDLESS, data, { tenant: 'acme' });
  await other.close();
  expect(await running).toMatchObject({ code: 'lua_aborted' });
  expect(await other.run('return 1', data, { tenant: 'acme' })).toMatchObject({ code: 'lua_aborted' });
});

test('each of 10,000 concurrent executions gets its own result', async () => {
  const results = await Promise.all(Array.from({ length: 10_000 }, (_, n) => outcome(`return ${n}`)));
  expect(results.every((result, n) => result === n)).toBe(true);
});

test('check reports the line and does not run the script', async () => {
  expect(await pool.check('return 1')).toMatchObject({ ok: true });
  expect(await pool.check('while true do end')).toMatchObject({ ok: true });
  expect(await pool.check('local x\nlocal y = = 1')).toMatchObject({
    code: 'lua_syntax',
    message: expect.stringContaining('script:2:'),
  });
});

describe('no tenant blocks another', () => {
  test.each([1, 2])('one with endless scripts on all of %i workers', async workers => {
    await using held = closing(new LuaPool({ workers }));
    const abort = new AbortController();
    const endless = [begin(held.pool, 'greedy', abort.signal)];
    await endless[0]?.began;
    // More scripts than workers: the second starts on a free worker, the others wait.
    for (let n = 1; n < 6; n++) endless.push(begin(held.pool, 'greedy', abort.signal));
    if (workers > 1) await Promise.any(endless.slice(1).map(({ began }) => began));
    for (const tenant of ['acme', 'other']) {
      expect(await held.pool.run('return 1', data, { tenant })).toMatchObject({ ok: true, result: '1' });
    }
    abort.abort();
    for (const { run } of endless) expect(await run).toMatchObject({ code: 'lua_aborted' });
    expect(held.pool.workers).toBeLessThanOrEqual(workers);
  });

  test('several tenants with endless scripts get one worker each, and one more tenant still gets a worker', async () => {
    await using held = closing(new LuaPool({ workers: 2 }));
    const abort = new AbortController();
    const greedy = Array.from({ length: 5 }, (_, n) => `greedy ${n}`);
    const endless = greedy.map(tenant => begin(held.pool, tenant, abort.signal));
    await Promise.all(endless.map(({ began }) => began));
    expect(await held.pool.run('return 1', data, { tenant: 'acme' })).toMatchObject({ result: '1' });
    // The workers of the greedy tenants, and the one that was started for acme: kept while the long scripts run.
    expect(held.pool.workers).toBeLessThanOrEqual(6);
    abort.abort();
    for (const { run } of endless) expect(await run).toMatchObject({ code: 'lua_aborted' });
    expect(held.pool.workers).toBeLessThanOrEqual(2);
  });

  test('with more endless scripts than possible workers, another tenant displaces one, which starts again', async () => {
    await using held = closing(new LuaPool({ workers: 2 }));
    const abort = new AbortController();
    const most = 2 + MAX_EXTRA_WORKERS;
    const endless = Array.from({ length: most }, (_, n) => begin(held.pool, `greedy ${n}`, abort.signal));
    await Promise.all(endless.map(({ began }) => began));
    expect(await held.pool.run('return 1', data, { tenant: 'acme' })).toMatchObject({ result: '1' });
    expect(held.pool.workers).toBeLessThanOrEqual(most);
    abort.abort();
    for (const { run } of endless) expect(await run).toMatchObject({ code: 'lua_aborted' });
    expect(held.pool.waiting).toBe(0);
  });

  test.runIf(process.platform === 'linux')('a long script leaves the CPU to other threads', async () => {
    await using held = closing(new LuaPool({ workers: 1 }));
    const low = () =>
      readdirSync('/proc/self/task').filter(thread => {
        try {
          return getPriority(Number(thread)) === constants.priority.PRIORITY_LOW;
        } catch {
          return false;
        }
      }).length;
    const abort = new AbortController();
    const endless = begin(held.pool, 'greedy', abort.signal);
    await endless.began;
    await expect.poll(low).toBe(1);
    abort.abort();
    await endless.run;
    expect(await held.pool.run('return 1', data, { tenant: 'acme' })).toMatchObject({ result: '1' });
    await expect.poll(low).toBe(0);
    // A long script that ends by itself leaves its worker at normal priority, or a new worker.
    const long = 'local t = os.clock() while os.clock() - t < 1 do end return 2';
    expect(await held.pool.run(long, data, { tenant: 'acme' })).toMatchObject({ result: '2' });
    await expect.poll(low).toBe(0);
  });

  test('tenants take turns, regardless of their order and their number of jobs', () => {
    const queue = new TenantQueue<string>();
    for (const job of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) queue.push(job.charAt(0), job);
    queue.remove('c', 'c1');
    const turns: string[][] = [];
    for (let next = queue.next(() => true); next !== undefined; next = queue.next(() => true)) {
      const taken = queue.take(next, 2, 32);
      turns.push(taken);
      if (turns.length === 4) queue.unshift('a', taken);
    }
    expect(turns).toEqual([['a1', 'a2'], ['b1'], ['c2'], ['a3'], ['a3'], ['a4']]);
  });
});

test('jobs that ended in a batch are answered although a later script is endless', async () => {
  const abort = new AbortController();
  const run = (script: string) => pool.run(script, data, { tenant: 'acme', signal: abort.signal });
  // Each of the two workers takes a share. The first share is [0, endless, 2].
  const runs = ['return 0', ENDLESS, 'return 2', 'return 3', 'return 4', 'return 5'].map(run);
  const [first, endless, ...others] = runs;
  expect(await first).toMatchObject({ result: '0' });
  expect(await Promise.all(others)).toMatchObject([{ result: '2' }, { result: '3' }, { result: '4' }, { result: '5' }]);
  abort.abort();
  expect(await endless).toMatchObject({ code: 'lua_aborted' });
});

test('results that are far larger as objects than as text do not end the process', async () => {
  // 40 × 1 MB; as objects together ~500 MB, more than a worker's heap.
  const result = `[${'[],'.repeat(330_000)}0]`;
  const steps = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`s${n}`, result]));
  expect(await pool.run('return 1', () => ({ values: [], steps }), { tenant: 'acme' })).toMatchObject({
    code: 'lua_memory',
  });
});

test('the data of a script is made when its turn comes, and an error in making it is reported to the caller', async () => {
  const made: number[] = [];
  const runs = Array.from({ length: 4 }, (_, n) =>
    pool.run(
      `return ${n}`,
      () => {
        if (n === 1) throw new Error('gone');
        made.push(n);
        return { values: [] };
      },
      { tenant: 'acme' },
    ),
  );
  expect(made).toEqual([]);
  await expect(runs[1]).rejects.toThrow('gone');
  expect(await Promise.all([runs[0], runs[2], runs[3]])).toMatchObject([
    { result: '0' },
    { result: '2' },
    { result: '3' },
  ]);
  expect(made).toEqual([0, 2, 3]);
});

/** Starts an endless script. `began` resolves when the script has started. */
function begin(of: LuaPool, tenant: string, signal: AbortSignal) {
  const { promise: began, resolve } = Promise.withResolvers<void>();
  return { began, run: of.run(ENDLESS, data, { tenant, signal, began: resolve }) };
}

const closing = (of: LuaPool) => ({ pool: of, [Symbol.asyncDispose]: () => of.close() });
