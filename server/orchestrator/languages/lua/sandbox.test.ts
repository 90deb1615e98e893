import { describe, expect, test } from 'vitest';
import { readJson } from '../../../platform/json-text.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { type LuaData, LuaSandbox, RESULT_LIMIT } from './sandbox.ts';

const sandbox = new LuaSandbox();
type Given = { values?: JsonValue[]; input?: JsonMap; steps?: Record<string, JsonValue>; run?: JsonMap };
const texts = (values: Record<string, JsonValue>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
const asData = ({ values = [], steps, ...rest }: Given): LuaData => ({
  values: values.map(value => JSON.stringify(value)),
  ...texts(rest),
  ...(steps && { steps: texts(steps) }),
});
const run = (script: string, given: Given = {}) => sandbox.run(script, asData(given));
const value = (script: string, data: Given = {}) => {
  const outcome = run(script, data);
  if (!outcome.ok) throw new Error(outcome.message);
  return readJson(outcome.result);
};
const message = (script: string, given: Given = {}) => {
  const outcome = run(script, given);
  return outcome.ok ? outcome.result : `${outcome.code}: ${outcome.message}`;
};

describe('values', () => {
  const input = {
    n: 1,
    f: 1.5,
    big: BigInt(2 ** 60),
    s: 'hé"\n',
    a: [],
    o: {},
    l: [1, null, [true]],
    z: null,
    constructor: 1,
    id: 7615917337495251231n,
    large: 18446744073709551615n,
  };
  test('JSON survives a round trip', () => expect(value('return input', { input })).toEqual(input));
  test.each([
    ['math.type(input.n)', 'integer'],
    ['math.type(input.f)', 'float'],
    ['6 / 2', 3],
    ['1 // 1', 1],
    ['nil', null],
    ['json.null', null],
    ['{}', {}],
    ['json.array()', []],
    ['{1, json.null, 3}', [1, null, 3]],
    ['json.decode(json.encode(input)).l', [1, null, [true]]],
    ['steps.a.result.x', 5],
    ['steps.skipped.result == nil', true],
    ['steps.unknown == nil', true],
    ['run.id', 'r'],
    ['os.date("%Y-%m-%dT%H:%M:%S %j %a %p", 0)', '1970-01-01T00:00:00 001 Thu AM'],
    ['os.time{year=2026, month=1, day=1, hour=0}', 1_767_225_600],
    ['math.maxinteger', 9223372036854775807n],
    ['math.mininteger', -9223372036854775808n],
    ['input.id', 7615917337495251231n],
    ['input.id + 1', 7615917337495251232n],
    ['math.type(input.id)', 'integer'],
    ['json.decode("{\\"id\\":7615917337495251231}").id == input.id', true],
    ['json.decode(json.encode(input)).large', 18446744073709551615n],
    ['tostring(input.large) .. "/" .. input.large', '18446744073709551615/18446744073709551615'],
    ['{input.large, input.large == json.decode("18446744073709551615")}', [18446744073709551615n, true]],
    ['{input.large > input.id, input.large <= input.large, input.large < 1e300}', [true, true, true]],
  ])('%s', (expression, expected) => {
    expect(value(`return ${expression}`, { input, steps: { a: { x: 5 }, skipped: null }, run: { id: 'r' } })).toEqual(
      expected,
    );
  });
  test.each([
    ['return 0/0', 'NaN cannot be JSON'],
    ['return 1/0', 'infinity cannot be JSON'],
    ['return print', 'a function cannot be JSON'],
    ['return coroutine.create(print)', 'a coroutine cannot be JSON'],
    ['local t = {} t.t = t return t', 'a table contains itself'],
    ['local t = {} for i = 1, 200 do t = {t} end return t', 'nested more than 100 levels'],
    ['return {1, nil, 3}', 'holes'],
    ['return {1, a = 2}', 'both indexes and names'],
    ['return {[1.5] = 1}', 'neither a string nor an integer'],
    ['return "\\xff"', 'not valid UTF-8'],
    ['return "\\0"', 'NUL'],
    ['return rawset(input.large, 1, "1e9") and input.large', 'an unsigned integer was changed'],
    ['return input.large + 1', 'arithmetic on a 64-bit unsigned integer value'],
    ['return json.decode("[18446744073709551616]")', 'has more than 64 bits'],
    ['input.large.x = 1', 'an unsigned integer has no fields'],
  ])('%s is refused clearly', (script, expected) =>
    expect(message(script, { input: { large: 2n ** 64n - 1n } })).toContain(expected),
  );
  test('a result of exactly 1 MiB, and one byte more', () => {
    expect(run(`return string.rep("x", ${RESULT_LIMIT - 2})`).ok).toBe(true);
    expect(message(`return string.rep("x", ${RESULT_LIMIT - 1})`)).toContain('larger than 1 MiB');
    expect(message(`return string.rep("é", ${RESULT_LIMIT / 2})`)).toContain('larger than 1 MiB');
  });
  test('errors contain the line but no path of the host', () => {
    expect(message('local a = 1\nerror("boom")')).toBe('lua_error: script:2: boom');
    expect(message('local a = 1\n\nx = = 2')).toMatch(/^lua_syntax: script:3: /);
    expect(message('return json.decode("{")')).toBe('lua_error: script:1: json.decode: this is not JSON');
  });
  test('the log keeps 64 KiB and notes that it was cut', () => {
    expect(run('log("a", 1, {b = 2}, nil) print(true)').log).toEqual(['a\t1\t{"b":2}\tnil', 'true']);
    const { log } = run('for i = 1, 100000 do log("line " .. i) end');
    expect(log.join('\n').length).toBeLessThanOrEqual(65_536);
    expect(log.at(-1)).toContain('cut here');
    expect(run('log(string.rep("é", 100000))').log.join('').length).toBeLessThan(65_536);
  });
});

describe('isolation: nothing of one execution reaches the next', () => {
  test.each([
    ['a global', 'leak = 1', 'return leak'],
    [
      'a changed library function',
      'string.upper = function() return "owned" end',
      'return ("a"):upper() == "owned" or nil',
    ],
    ['a new library function', 'table.evil = 1', 'return table.evil'],
    [
      'the metatable of strings',
      'getmetatable("").__add = function() return "owned" end',
      'return pcall(function() return "a" + "b" end) or nil',
    ],
    ['the index of strings', 'getmetatable("").__index = function() return "owned" end', 'return ("x").y'],
    ['a metatable of _G', 'setmetatable(_G, {__index = function() return "owned" end})', 'return nothing'],
    [
      'a metatable of nil through json.array',
      'getmetatable(json.array()).__index = function() return 1 end',
      'return json.array().x',
    ],
    ['a removed function', 'tostring = nil json = nil', 'return tostring == nil or json == nil or nil'],
    [
      'a suspended coroutine',
      'co = coroutine.create(function() coroutine.yield() end) coroutine.resume(co)',
      'return co and 1',
    ],
    [
      'a finalizer',
      'setmetatable({}, {__gc = function() leak = 1 end})',
      'for i = 1, 1e5 do local t = {} end return leak',
    ],
  ])('%s', (_, first, second) => {
    expect(run(first).ok).toBe(true);
    expect(value(second)).toBeNull();
  });
  test('after an error, after memory ran out and after growth', () => {
    run('leak = 1 error("x")');
    expect(value('return leak')).toBeNull();
    run('leak = {} for i = 1, 1e9 do leak[i] = i end');
    expect(value('return leak')).toBeNull();
    expect(value('return #string.rep("x", 20 * 1024 * 1024)')).toBe(20 * 1024 * 1024);
    expect(value('return leak')).toBeNull();
  });
  test('random numbers differ between executions', () => {
    const drawn = new Set(Array.from({ length: 20 }, () => value('return math.random(1, 2^40 // 1 | 0)')));
    expect(drawn.size).toBeGreaterThan(15);
  });
  test('1,000 executions leave the memory unchanged', () => {
    const before = value('return collectgarbage("count")');
    for (let n = 0; n < 1000; n++) run(`x = {} for i = 1, 100 do x[i] = "${n}" .. i end return x`);
    expect(value('return collectgarbage("count")')).toBe(before);
  });
});

describe('escapes', () => {
  test.each([
    'io',
    'require',
    'package',
    'debug',
    'dofile',
    'loadfile',
    'warn',
    'os.execute',
    'os.getenv',
    'os.exit',
    'os.remove',
    'os.rename',
    'os.tmpname',
    'os.setlocale',
    'string.dump',
    'js',
    'null',
    'Promise',
    'globalThis',
    'process',
    'window',
    'loadstring',
    'module',
    '("").dump',
    'getmetatable("").__index.dump',
  ])('%s does not exist', name => expect(value(`return ${name}`)).toBeNull());
  test('every existing global', () => {
    const names = value('local n = {} for k in pairs(_G) do n[#n + 1] = k end table.sort(n) return n');
    expect((names as string[]).join(' ')).toBe(
      '_G _VERSION assert base64 collectgarbage coroutine error getmetatable hex input ipairs json load log math next os pairs pcall print ' +
        'rawequal rawget rawlen rawset run select setmetatable steps string table tonumber tostring type utf8 xpcall',
    );
    expect(value('local n = {} for k in pairs(os) do n[#n + 1] = k end table.sort(n) return n')).toEqual([
      'clock',
      'date',
      'time',
    ]);
  });
  test.each([
    ['bytecode', 'return load("\\27Lua\\x54\\0")'],
    ['bytecode with a mode', 'return load("\\27Lua\\x54\\0", "x", "b")'],
    [
      'bytecode from a function',
      'local done return load(function() if not done then done = true return "\\27Lua" end end, "x", "bt")',
    ],
  ])('load refuses %s', (_, script) => expect(value(script)).toBeNull());
  test('load of text works, with its environment', () => {
    expect(value('return load("return 1 + 1")()')).toBe(2);
    expect(value('return load("return x", "c", "t", {x = 3})()')).toBe(3);
  });
  test('collectgarbage only counts', () => expect(message('collectgarbage("stop")')).toContain("only answers 'count'"));
  test.each([
    ['deep recursion', 'local function f() return 1 + f() end return f()'],
    [
      'deep recursion through a metamethod',
      'local t = setmetatable({}, {}) getmetatable(t).__index = function(_, k) return t[k] end return t.x',
    ],
    ['recursion in gsub', 'local function f() return (("a"):gsub("a", f)) end return f()'],
    ['recursion in sort', 'local function f() table.sort({3, 2, 1}, f) end f()'],
    [
      'recursion in tostring',
      'local t = setmetatable({}, {}) getmetatable(t).__tostring = function() return tostring(t) end log(t)',
    ],
    ['nested coroutines', 'local function f() return coroutine.wrap(f)() end return f()'],
    ['nested pcall', 'local function f() return select(2, pcall(f)) end return f()'],
    ['a parser bomb', 'return load("return " .. string.rep("(", 1e5) .. "1" .. string.rep(")", 1e5))()'],
    ['a huge string.rep', 'return string.rep("x", 1 << 40)'],
    ['a huge string.format', 'return string.format("%" .. string.rep("9", 50) .. "d", 1)'],
    ['a huge unpack', 'return table.unpack({}, 1, 1e8)'],
    ['a huge concat', 'return table.concat({}, "x", 1, 1 << 40)'],
    ['an error that has no text', 'error(setmetatable({}, {__tostring = function() error("again") end}))'],
    [
      'an error in a closed variable',
      'local x <close> = setmetatable({}, {__close = function() error("closing") end}) error("first")',
    ],
    [
      'memory swallowed by pcall',
      'local t = {} while pcall(function() t[#t + 1] = string.rep("x", 1e6) .. #t end) do end return string.rep("y", 5e6)',
    ],
    ['nil error', 'error(nil)'],
  ])('%s is contained', (_, script) => {
    const outcome = run(script);
    if (outcome.ok) expect(outcome.result.length).toBeLessThan(RESULT_LIMIT);
    else expect(outcome.message.length).toBeGreaterThan(0);
    expect(value('return 1 + 1')).toBe(2);
  });
  test('memory: below the limit a script works, above it fails with the named error, even with pcall', () => {
    expect(value('local s = string.rep("x", 30 * 1024 * 1024) return #s')).toBe(30 * 1024 * 1024);
    expect(message('local t = {} for i = 1, 70 do t[i] = string.rep("x", 1024 * 1024) .. i end')).toBe(
      'lua_memory: the script needs more than its 64 MiB of memory',
    );
    expect(
      value('local t = {} return pcall(function() for i = 1, 70 do t[i] = string.rep("x", 1 << 20) .. i end end)'),
    ).toBe(false);
  });
});

describe('the worker reads no more of the output of a script than it keeps', () => {
  test('json.decode', () => {
    expect(value('return #json.decode("[" .. ("0,"):rep(2^21 - 2) .. "0]")')).toBe(2 ** 21 - 1);
    expect(message('return json.decode("[" .. ("0,"):rep(2^21) .. "0]")')).toBe(
      'lua_error: script:1: json.decode takes at most 4 MiB',
    );
  });
  test('log', () => {
    const outcome = run(
      'log(("x"):rep(2^24), setmetatable({}, {__tostring = function() read = true return "" end})) return read',
    );
    expect(outcome).toMatchObject({ ok: true, result: 'null' });
    expect(Buffer.byteLength(outcome.log.join('\n'))).toBeLessThanOrEqual(64 * 1024);
  });
  test('an error is cut between characters', () => {
    expect(message('error("x" .. ("é"):rep(2^20), 0)')).toBe(`lua_error: x${'é'.repeat(3_999)}…`);
  });
  test('a result', () => {
    expect(message('local s = ("x"):rep(2^24) return {s, s, s}')).toContain('larger than 1 MiB');
    expect(message('local t = {} for i = 1, 2^20 do t[i] = 1 end return t')).toContain('larger than 1 MiB');
  });
});
