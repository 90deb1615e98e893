import { describe, expect, test } from 'vitest';
import { expression } from './index.ts';
import { CelSyntaxError } from './syntax.ts';
import { CelError, type CelValue, jsonOf } from './values.ts';

const scope = {
  input: { png: 'iVBORw0KGgo=', jwt: 'eyJhbGciOiJub25lIn0', text: 'Grüße', n: 1 },
  result: () => null,
  ancestors: () => new Set<string>(),
};
const evaluate = (text: string): CelValue => expression(text).evaluate(scope);

describe('base64, hex and bytes', () => {
  test.each<[string, CelValue]>([
    ['base64.encode(b"hello")', 'aGVsbG8='],
    ['base64.encode("Grüße") == base64.encode(bytes("Grüße"))', true],
    ['string(base64.decode("R3LDvMOfZQ=="))', 'Grüße'],
    ['string(base64.decode("R3LDvMOfZQ"))', 'Grüße'],
    ['string(base64.decode(input.jwt)).contains("none")', true],
    ['hex.encode(base64.decode(input.png))', '89504e470d0a1a0a'],
    ['base64.encode(hex.decode("89504E470D0A1A0A")) == input.png', true],
    ['base64.decode("_-8=") == hex.decode("ffef")', true],
    ['b"\\xff" == hex.decode("ff")', true],
    ['b"a" == "a"', false],
    ['size(base64.decode(input.png))', 8],
    ['hex.encode(b"a" + b"b")', '6162'],
    ['b"a" < b"b"', true],
    ['type(b"a")', 'bytes'],
    ['type(bytes("a"))', 'bytes'],
    ['["YQ==", "Yg=="].map(x, string(base64.decode(x))).join()', 'ab'],
    // A variable of a macro may have the name of an encoder.
    ['["a"].all(base64, base64.startsWith("a"))', true],
  ])('%s', (text, expected) => expect(evaluate(text)).toEqual(expected));

  test.each([
    'base64.decode("a")',
    'base64.decode(1)',
    'base64.encode(1)',
    'base64.encode({})',
    'hex.decode("abc")',
    'hex.decode("zz")',
    'string(hex.decode("ff"))',
    'bytes(1)',
    'b"a" + "a"',
    'b"a".size',
  ])('%s is an error of the expression', text => expect(() => evaluate(text)).toThrow(CelError));

  test.each(['base64.other("a")', 'hex.encode()', 'hex.encode("a", "b")', 'base64', 'base64.encode'])(
    '%s does not compile',
    text => expect(() => expression(text)).toThrow(CelSyntaxError),
  );

  test('bytes are not JSON', () => {
    expect(() => jsonOf(evaluate('[b"a"]'))).toThrow('bytes are not JSON');
  });
});

describe('the time', () => {
  const at = 'timestamp("2026-07-15T21:30:45.125Z")';
  test.each<[string, CelValue]>([
    [`${at}.getHours()`, 21],
    [`${at}.getHours("Europe/Berlin")`, 23],
    [`${at}.getHours("+05:30")`, 3],
    [`${at}.getHours("05:30")`, 3],
    [`${at}.getMinutes("Asia/Kolkata")`, 0],
    [`${at}.getHours("-08:00")`, 13],
    [`${at}.getHours("UTC")`, 21],
    [`${at}.getDate("Asia/Tokyo")`, 16],
    [`${at}.getDayOfMonth("Asia/Tokyo")`, 15],
    [`${at}.getDayOfWeek("Asia/Tokyo")`, 4],
    [`${at}.getDayOfWeek()`, 3],
    [`${at}.getDayOfYear()`, 195],
    [`${at}.getDayOfYear("Asia/Tokyo")`, 196],
    [`${at}.getMonth("America/New_York")`, 6],
    [`${at}.getSeconds("Europe/Berlin")`, 45],
    [`${at}.getMilliseconds("Europe/Berlin")`, 125],
    ['timestamp("2026-01-01T00:30:00Z").getFullYear("America/New_York")', 2025],
    ['timestamp("2026-01-01T00:30:00Z").getDayOfYear("America/New_York")', 364],
    ['timestamp("2024-12-31T12:00:00Z").getDayOfYear()', 365],
    ['timestamp("2026-03-29T00:30:00Z").getHours("Europe/Berlin")', 1],
    ['timestamp("2026-03-29T01:30:00Z").getHours("Europe/Berlin")', 3],
    ['duration("3h30m").getHours()', 3],
    ['duration("3h30m").getMinutes()', 210],
    ['duration("90s").getSeconds()', 90],
    ['duration("1.5s").getMilliseconds()', 500],
    ['duration("-0.2s").getSeconds()', 0],
  ])('%s is %s', (text, expected) => expect(evaluate(text)).toBe(expected));

  test.each([
    `${at}.getHours("Mars/Olympus")`,
    `${at}.getHours("")`,
    `${at}.getHours(1)`,
    'duration("3h").getHours("UTC")',
    'duration("3h").getFullYear()',
    '"x".getHours()',
  ])('%s is an error of the expression', text => expect(() => evaluate(text)).toThrow(CelError));
});
