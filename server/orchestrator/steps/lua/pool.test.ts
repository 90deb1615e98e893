import { afterAll, expect, test } from 'vitest';
import { LuaPool } from './index.ts';

const pool = new LuaPool({ workers: 2 });
afterAll(() => pool.close());
const data = '{"values":[]}';
const outcome = async (script: string) => {
  const run = await pool.run(script, data);
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
  const endless = pool.run(script, data, abort.signal);
  // Behind it and beside it: all of them must end although one worker is held up.
  const others = await Promise.all(Array.from({ length: 40 }, (_, n) => outcome(`return ${n}`)));
  expect(others).toEqual(Array.from({ length: 40 }, (_, n) => n));
  abort.abort();
  expect(await endless).toMatchObject({ ok: false, code: 'lua_aborted' });
  expect(await outcome('return 1')).toBe(1);
});

test('every worker held up at once: all come back after the abort', async () => {
  const abort = new AbortController();
  const endless = Array.from({ length: 6 }, () => pool.run('while true do end', data, abort.signal));
  const behind = Array.from({ length: 50 }, (_, n) => outcome(`return ${n}`));
  const first = await Promise.race([new Promise(resolve => setImmediate(resolve, 'nothing')), ...behind]);
  expect(first).toBe('nothing');
  abort.abort();
  for (const run of await Promise.all(endless)) expect(run).toMatchObject({ code: 'lua_aborted' });
  expect(await Promise.all(behind)).toEqual(Array.from({ length: 50 }, (_, n) => n));
});

test('an aborted signal runs nothing, and a closed pool answers', async () => {
  expect(await pool.run('return 1', data, AbortSignal.abort())).toMatchObject({ code: 'lua_aborted' });
  const other = new LuaPool({ workers: 1 });
  const running = other.run('while true do end', data);
  await other.close();
  expect(await running).toMatchObject({ code: 'lua_aborted' });
  expect(await other.run('return 1', data)).toMatchObject({ code: 'lua_aborted' });
});

test('10,000 executions at once all answer their own', async () => {
  const results = await Promise.all(Array.from({ length: 10_000 }, (_, n) => outcome(`return ${n}`)));
  expect(results.every((result, n) => result === n)).toBe(true);
});

test('check names the line and does not run', async () => {
  expect(await pool.check('return 1')).toMatchObject({ ok: true });
  expect(await pool.check('while true do end')).toMatchObject({ ok: true });
  expect(await pool.check('local x\nlocal y = = 1')).toMatchObject({
    code: 'lua_syntax',
    message: expect.stringContaining('script:2:'),
  });
});
