import { describe, expect, test } from 'vitest';
import { LuaSandbox } from './sandbox.ts';

const sandbox = new LuaSandbox();
const input = JSON.stringify({ png: 'iVBORw0KGgo=', text: 'Grüße' });
const run = (script: string) => sandbox.run(script, { values: [], input });
function result(script: string): unknown {
  const outcome = run(script);
  return outcome.ok ? JSON.parse(outcome.result) : outcome.message;
}
const failure = (script: string) => {
  const outcome = run(script);
  return outcome.ok ? null : outcome;
};

describe('base64 and hex', () => {
  test.each<[string, unknown]>([
    ['base64.encode("Grüße")', 'R3LDvMOfZQ=='],
    ['base64.decode("R3LDvMOfZQ==")', 'Grüße'],
    ['base64.decode("R3LDvMOfZQ")', 'Grüße'],
    ['base64.decode("_-8"):byte(1, -1)', 0xff],
    ['base64.encode("")', ''],
    ['hex.encode("\\0\\xff a")', '00ff2061'],
    ['hex.decode("00FF2061") == "\\0\\xff a"', true],
    ['#base64.decode(input.png)', 8],
    ['base64.decode(input.png):sub(2, 4)', 'PNG'],
    ['base64.encode(base64.decode(input.png)) == input.png', true],
    ['hex.encode(string.pack(">I4", 1))', '00000001'],
  ])('%s', (expression, expected) => expect(result(`return (${expression})`)).toEqual(expected));

  test('all bytes survive encoding and decoding', () => {
    const script = `
      local all = {}
      for byte = 0, 255 do all[byte + 1] = string.char(byte) end
      local text = table.concat(all):rep(1000)
      return base64.decode(base64.encode(text)) == text and hex.decode(hex.encode(text)) == text`;
    expect(result(script)).toBe(true);
  });

  test.each([
    ['base64.decode("a")', 'base64.decode: this is not base64'],
    ['base64.decode(1)', 'base64.decode takes a string'],
    ['base64.encode({})', 'base64.encode takes a string'],
    ['hex.decode("abc")', 'hex.decode: this is not hex'],
    ['base64.decode("ä")', 'base64.decode: this is not base64'],
  ])('%s is an error of the script', (call, message) => {
    expect(failure(`return ${call}`)).toMatchObject({ code: 'lua_error', message: expect.stringContaining(message) });
    expect(result(`local ok, problem = pcall(function() return ${call} end) return {ok = ok}`)).toEqual({ ok: false });
  });

  test.each(['return base64.decode(input.png)', 'return {a = "\\xff"}', 'return "\\0"'])(
    'a result with bytes that are not text is refused with a hint: %s',
    script => {
      expect(failure(script)).toMatchObject({
        code: 'lua_result_invalid',
        message: expect.stringContaining('use base64.encode or hex.encode'),
      });
    },
  );

  test('a script cannot exceed its memory limit with them', () => {
    const script = 'local s = ("x"):rep(20000000) local t = {} for n = 1, 10 do t[n] = base64.encode(s) end return #t';
    expect(run(script).ok).toBe(false);
    expect(result('return base64.encode("still there")')).toBe('c3RpbGwgdGhlcmU=');
  });

  test('changes of one script to them are invisible to the next', () => {
    result('base64.encode = nil hex = nil os.date = nil return 1');
    expect(result('return hex.encode(base64.decode("YQ==")) .. os.date("!%Y", 0)')).toBe('611970');
  });
});

describe('os.date with a time zone', () => {
  const at = Date.parse('2026-07-15T21:30:45Z') / 1000;
  test.each([
    [`os.date("%Y-%m-%d %H:%M:%S %z %Z", ${at}, "Europe/Berlin")`, '2026-07-15 23:30:45 +0200 Europe/Berlin'],
    [`os.date("!%F %R", ${at}, "Asia/Kolkata")`, '2026-07-16 03:00'],
    [`os.date("%F %R%%z", ${at}, "-08:00")`, '2026-07-15 13:30%z'],
    [`os.date("*t", ${at}, "Asia/Tokyo").day`, 16],
    [`os.date("%F %R %z", ${at})`, '2026-07-15 21:30 +0000'],
    ['os.date("%H", 0, "UTC")', '00'],
    ['type(os.date(nil, nil, "Europe/Berlin"))', 'string'],
  ])('%s', (expression, expected) => expect(result(`return ${expression}`)).toEqual(expected));

  test.each(['"Mars"', '""', '1', '{}', '("x"):rep(1000000)'])('%s is no time zone', zone => {
    expect(failure(`return os.date("%F", 0, ${zone})`)).toMatchObject({ code: 'lua_error' });
  });

  test('an invalid format or time', () => {
    for (const call of ['os.date({}, 0, "UTC")', 'os.date("%F", "x", "UTC")', 'os.date("%F", 1.5, "UTC")']) {
      expect(failure(`return ${call}`)).toMatchObject({ code: 'lua_error' });
    }
  });
});

describe('an error that is a table', () => {
  test('keeps its fields, and its message is the message', () => {
    const raised = 'error({code = "E42", message = "no stock", items = {1, 2}})';
    expect(failure(raised)).toEqual({
      ok: false,
      code: 'lua_error',
      message: 'no stock',
      details: { code: 'E42', message: 'no stock', items: [1, 2] },
      log: [],
    });
  });

  test.each<[string, string, object | undefined]>([
    ['error({code = "E42"})', '{"code":"E42"}', { code: 'E42' }],
    ['error({})', '{}', {}],
    ['error({1, 2})', '[1,2]', undefined],
    ['error(setmetatable({a = 1}, {__tostring = function() return "shown" end}))', 'shown', { a: 1 }],
    ['error(setmetatable({a = 1}, {}))', '{"a":1}', { a: 1 }],
    ['error("text")', 'script:1: text', undefined],
    ['local _, problem = pcall(error, {code = "E1"}) error(problem)', '{"code":"E1"}', { code: 'E1' }],
  ])('%s', (script, message, details) => {
    const found = failure(script);
    expect([found?.message, found?.details]).toEqual([message, details]);
  });

  test.each([
    'error({f = print})',
    'local t = {} t.t = t error(t)',
    'error({a = "\\xff"})',
    'error({a = ("x"):rep(100000)})',
  ])('has no details if it is not JSON: %s', script => {
    expect(failure(script)).toMatchObject({ code: 'lua_error', message: expect.stringMatching(/^table: /) });
    expect(failure(script)).not.toHaveProperty('details');
  });

  test('a result that cannot be stored has no details', () => {
    expect(failure('return {f = print}')).not.toHaveProperty('details');
  });
});
