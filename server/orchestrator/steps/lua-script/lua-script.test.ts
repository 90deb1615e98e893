import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { LuaPool, prepareScript } from '../../languages/lua/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { luaScript } from './lua-script.ts';

const pool = new LuaPool({ workers: 2 });
const type = luaScript(pool);
afterAll(() => pool.close());

const attempt = (script: string, input: JsonMap = {}, results: Record<string, JsonValue> = {}): Attempt => ({
  run: { id: 'r', workflowId: 'w', version: 3, tenantId: 't', projectId: 'p' },
  step: { id: 's', type: 'lua_script', script },
  attempt: 1,
  now: 0,
  input,
  result: step => {
    if (!Object.hasOwn(results, step)) throw new Error(`${step} is no ancestor`);
    return results[step] ?? null;
  },
  ancestors: () => new Set(Object.keys(results)),
  log: () => {},
});
const run = (...args: Parameters<typeof attempt>) => type.execute(attempt(...args), new AbortController().signal);

describe('templates in scripts are values, never code', () => {
  const nasty = [
    '"',
    "'",
    ']]',
    ']==]',
    '") os.exit() --',
    '\\',
    '\n',
    '{{input.x}}',
    '"..os.time().."',
    '\\"',
    '--[[',
  ];
  const places: [string, (text: string) => string][] = [
    ['return {{input.x}}', text => text],
    ['return "{{input.x}}"', text => text],
    ["return 'a {{input.x}} b'", text => `a ${text} b`],
    ['return [[{{input.x}}]]', text => text],
    ['return [==[a{{input.x}}\nb]==]', text => `a${text}\nb`],
    ['return ("{{input.x}}"):rep(2)', text => text + text],
    ['local f = function(s) return s end return f"<{{input.x}}>"', text => `<${text}>`],
    ['return [[{{input.x}}]] -- {{input.gone}} {{', text => text],
  ];
  test.each(places)('%s', async (script, expected) => {
    for (const x of nasty) expect(await run(script, { x })).toEqual({ kind: 'completed', result: expected(x) });
  });
  test('any text is passed unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), async x => {
        const text = x.replaceAll('\0', '').toWellFormed();
        expect(await run('return {"{{input.x}}", {{input.x}}, [[{{input.x}}]]}', { x: text })).toMatchObject({
          result: [text, text, text],
        });
      }),
      { numRuns: 60 },
    );
  });
  test('types are kept in code; tables of tables stay Lua; lines are kept', async () => {
    expect(await run('return {{input.o}}', { o: { a: [1] } })).toMatchObject({ result: { a: [1] } });
    expect(await run('return {{1, 2}, {3}}')).toMatchObject({ result: [[1, 2], [3]] });
    expect(await run('return {{input.o ?? 7}}')).toMatchObject({ result: 7 });
    const either = 'return {{{steps.a.result ?? steps.b.result}}, "{{steps.a.result.x ?? steps.b.result.x ?? 7}}"}';
    expect(await run(either, {}, { a: null, b: { x: 2 } })).toMatchObject({ result: [{ x: 2 }, '2'] });
    expect(await run(either, {}, { a: { x: 1 }, b: null })).toMatchObject({ result: [{ x: 1 }, '1'] });
    const twice = 'return {{{input.a ?? input.b}}, {{input.a ?? input.c}}}';
    expect(await run(twice, { b: 1, c: 2 })).toMatchObject({ result: [1, 2] });
    expect(await run('local a = [[\n{{input.x}}\n\n]]\nerror("here")', { x: '1' })).toMatchObject({
      error: { message: 'script:5: here' },
    });
  });
  test('a reference that does not resolve or is malformed fails the step, with a message that names it', async () => {
    expect(await run('return {{input.gone}}')).toMatchObject({
      kind: 'failed',
      retryable: false,
      error: { code: 'template_unresolved' },
    });
    expect(await run('return "{{input gone}}"')).toMatchObject({
      kind: 'failed',
      error: { code: 'template_malformed' },
    });
  });
  test('an escape before a template cannot open the string', async () => {
    expect(await run('return "\\\\{{input.x}}"', { x: 'q' })).toMatchObject({ result: '\\q' });
    expect(await run('return "\\{{input.x}}"', { x: 'q' })).toMatchObject({
      kind: 'failed',
      error: { code: 'lua_syntax' },
    });
  });
});

describe('a script with thousands of templates', () => {
  const large = { text: 'x'.repeat(900_000), n: 1 };
  const many = (count: number, of: (n: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join('\n');

  test('binds each value once and sends it once, in any spelling', async () => {
    const spelled = ['{{input}}', '{{ input }}', '{{input ?? 1}}', '{{input ?? 2}}'];
    const prepared = prepareScript(`${many(8_000, n => `local _ = ${spelled[n % 4]}`)}\nreturn 1`);
    expect(prepared.bound).toHaveLength(3);
    const script = (count: number) => `local n = 0\n${many(count, n => `n = n + ${spelled[n % 4]}.n`)}\nreturn n`;
    expect(await run(script(8_000), large)).toMatchObject({ kind: 'completed', result: 8_000 });
    expect(await run(script(9_999), large)).toMatchObject({ kind: 'completed', result: 9_999 });
    // A hundred bindings of 900 KB would exceed the 32 MiB that a script may be sent.
    const fallbacks = `local n = 0\n${many(100, n => `n = n + {{input ?? ${n}}}.n`)}\nreturn n`;
    expect(prepareScript(fallbacks).bound).toHaveLength(100);
    expect(await run(fallbacks, large)).toMatchObject({ kind: 'completed', result: 100 });
  });

  test('reads the same value as a value and as text', async () => {
    const script =
      'local a, b = {{input.o}}, {{input.o}} a.n = 2 return {b.n, "{{input.o}}", {{input.s}}, "{{input.s}}"}';
    const input = { o: { n: 1 }, s: 'x' };
    // One binding is one table: a change through one template is visible through the other, as with `input.o`.
    expect(await run(script, input)).toMatchObject({ result: [2, '{"n":1}', 'x', 'x'] });
    const missing = 'return {{input.no ?? null}} == nil and {{steps.a.result}} == nil and "{{steps.a.result}}"';
    expect(await run(missing, {}, { a: null })).toMatchObject({ result: 'null' });
  });

  test('is refused above 10,000', async () => {
    const script = (count: number) => `local n = 0\n${many(count, () => 'n = n + {{input.n}}')}\nreturn n`;
    expect(await run(script(10_000), large)).toMatchObject({ result: 10_000 });
    expect(await run(script(10_001), large)).toMatchObject({
      error: { code: 'template_malformed', message: 'more than 10000 templates in one field' },
    });
  });

  test('fails at the first value with which they exceed 32 MiB together', async () => {
    let reads = 0;
    const results = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`s${n}`, { text: 'x'.repeat(999_000) }]));
    const one = attempt(
      many(60, n => `local _ = {{steps.s${n}.result}}`),
      {},
      results,
    );
    const result: Attempt['result'] = step => {
      reads += 1;
      return one.result(step);
    };
    expect(await type.execute({ ...one, result }, new AbortController().signal)).toMatchObject({
      error: { code: 'lua_data_too_large' },
    });
    expect(reads).toBe(34);
  });

  test('is read in linear time if no template is closed', () => {
    const { errors } = prepareScript(`return "${'{{input ?? [ '.repeat(19_000)}"`);
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)?.message).toBe('more than 100 malformed templates');
    expect(prepareScript(`return ${'{{input ?? [ '.repeat(19_000)}`).errors).toHaveLength(1);
  });
});

test('prepared scripts are cached by their size, not by their number', () => {
  // The text and the source in UTF-16 are about 1 MiB per script. Half of the 32 MiB is certain to be kept.
  const large = (n: number) => `return ${n} --${'x'.repeat(255 * 1024)}`;
  const first = prepareScript(large(0));
  for (let n = 1; n <= 14; n++) prepareScript(large(n));
  expect(prepareScript(large(0))).toBe(first);
  for (let n = 1; n <= 40; n++) prepareScript(large(n));
  expect(prepareScript(large(0))).not.toBe(first);
});

describe('only the results that a script can read are sent to it', () => {
  test.each([
    ['return 1', []],
    ['return steps.a.result', ['a']],
    ['return steps["odd-id"].result + steps.b.result', ['odd-id', 'b']],
    ['return x.steps.a, y:steps()', []],
    ['return "x"..steps.a.result', ['a']],
    ['-- steps\nreturn "steps"', []],
    ['return steps[k]', 'all'],
    ['for k in pairs(steps) do end', 'all'],
    ['return _G.x', 'all'],
    ['return load(s)()', 'all'],
  ])('%s', (script, expected) => {
    const { steps } = prepareScript(script);
    expect(steps === 'all' ? 'all' : [...steps]).toEqual(expected);
  });
  test('globals', async () => {
    expect(await run('return {run, input.n, steps.a.result}', { n: 1 }, { a: 2 })).toEqual({
      kind: 'completed',
      result: [{ id: 'r', workflow_id: 'w', version: 3 }, 1, 2],
    });
    expect(await run('return load("return input.n + steps.a.result")()', { n: 1 }, { a: 2 })).toMatchObject({
      result: 3,
    });
    expect(await run('return steps.z == nil', {}, { a: 2 })).toMatchObject({ result: true });
  });
  test('the log is part of the outcome, failed or not', async () => {
    expect(await run('log("x") error("y")')).toMatchObject({ kind: 'failed', retryable: true, log: ['x'] });
  });
});
