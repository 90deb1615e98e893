import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Instant } from '../operation/wire.ts';
import { parseObject } from './input.ts';
import { operations } from './operations.ts';
import { createRegistry } from './registry.ts';

const DAY_MS = 86_400_000;
const parse = (text: string) => {
  const parsed = Instant.safeParse(text);
  return parsed.success ? parsed.data : null;
};
const pad = (value: number, width = 2) => String(value).padStart(width, '0');

/** An instant in any form of RFC 3339: with any offset, any fraction, and letters of either case. */
const written = fc
  .record({
    // At any offset, these instants have a year of four digits.
    at: fc.integer({ min: Date.parse('0001-01-02T00:00:00Z'), max: Date.parse('9999-12-30T23:59:59.999Z') }),
    offset: fc.oneof(fc.constant(null), fc.integer({ min: -(24 * 60 - 1), max: 24 * 60 - 1 })),
    beyond: fc.stringMatching(/^\d{0,20}$/),
    separator: fc.constantFrom('T', 't', ' '),
    zulu: fc.constantFrom('Z', 'z'),
  })
  .map(({ at, offset, beyond, separator, zulu }) => {
    const local = new Date(at + (offset ?? 0) * 60_000).toISOString().slice(0, -1);
    const [date = '', time = ''] = local.split('T');
    const size = Math.abs(offset ?? 0);
    const zone = offset === null ? zulu : `${offset < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
    return { at, text: `${date}${separator}${time}${beyond}${zone}` };
  });

describe('an instant', () => {
  test('is the same in every spelling', () => {
    fc.assert(
      fc.property(written, ({ at, text }) => {
        expect(parse(text), text).toBe(new Date(at).toISOString());
      }),
      { numRuns: 2000 },
    );
  });

  test('is the same as Date’s, if the day exists', () => {
    const parts = fc.tuple(fc.nat(9999), fc.nat(13), fc.nat(32), fc.nat(24), fc.nat(60), fc.nat(59), fc.nat(999));
    fc.assert(
      fc.property(parts, ([year, month, day, hour, minute, second, ms]) => {
        const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:${pad(minute)}:${pad(second)}.${pad(ms, 3)}Z`;
        const date = new Date(text);
        const same = !Number.isNaN(date.getTime()) && date.toISOString() === text && year > 0;
        expect(parse(text), text).toBe(same ? text : null);
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00.123456+00:00', '2026-01-01T00:00:00.123Z'],
    ['2026-01-01T00:00:00.1Z', '2026-01-01T00:00:00.100Z'],
    ['2026-01-01T00:00:00.9999999999999999999Z', '2026-01-01T00:00:00.999Z'],
    ['2026-01-01t05:30:00+05:30', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01 00:00:00z', '2026-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['1990-12-31T15:59:60-08:00', '1991-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, expected) => {
    expect(parse(text)).toBe(expected);
  });

  test.each([
    '',
    'now',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00 00:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00,5Z',
    '2026-01-01T00:00:00+0000',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+00:60',
    '2026-1-1T00:00:00Z',
    '02026-01-01T00:00:00Z',
    '+002026-01-01T00:00:00Z',
    '-000001-01-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-15T23:59:60Z',
    '2016-12-31T22:59:60Z',
    '2016-12-31T23:59:60+01:00',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-01-01T00:00:00Z\n',
    '２026-01-01T00:00:00Z',
  ])('is not %j', text => {
    expect(parse(text)).toBeNull();
  });

  test('explains a + that the query string turned into a space', () => {
    expect(Instant.safeParse('2026-01-01T00:00:00 02:00').error?.issues[0]?.message).toContain('%2B');
  });
});

describe('every field that holds a time', () => {
  type Schema = { format?: string; properties?: Record<string, Schema> };
  const fields = createRegistry(operations).operations.flatMap(entry =>
    Object.entries((entry.inputSchema as Schema).properties ?? {})
      .filter(([, schema]) => schema.format === 'date-time')
      .map(([field]) => [entry.operation.name, field, entry] as const),
  );

  test('is found', () => {
    const names = new Set(fields.map(([name, field]) => `${name} ${field}`));
    for (const field of [
      'runs_list_tenant from',
      'workflows_list_runs to',
      'analytics_success_rate from',
      'analytics_usage_timeseries to',
      'billing_usage_history from',
      'pats_create expires_at',
    ]) {
      expect(names).toContain(field);
    }
  });

  test.each(fields)('%s accepts %s like every other', (_, field, entry) => {
    const others = {
      id: '00000000-0000-7000-8000-000000000000',
      display_name: 'CI',
      scopes: ['workflow:read'],
      query: 'lamps',
      thread_id: 'thread',
      turns: [{ role: 'user', text: 'Hello' }],
      path: 'notes.md',
      content: 'Lamps are in stock.',
    };
    const known = Object.fromEntries(
      Object.entries(others).filter(([name]) => name in ((entry.inputSchema as Schema).properties ?? {})),
    );
    const parse = (text: string) => Reflect.get(Object(parseObject(entry, { ...known, [field]: text })), field);
    const at = Date.UTC(2026, 0, 1) + DAY_MS;
    expect(parse('2026-01-02T01:00:00.000000+01:00')).toBe(new Date(at).toISOString());
    expect(() => parse('2026-02-30T00:00:00Z')).toThrow(expect.objectContaining({ status: 422 }));
  });
});
