import { describe, expect, test } from 'vitest';
import { defaultGranularity, pointsOf, rangeOf } from './range.ts';
import { AnalyticsInput } from './schemas.ts';

const now = Date.parse('2026-03-30T10:07:12.345Z');
const iso = (at: number) => new Date(at).toISOString().replace(':00.000Z', 'Z');
const range = (input: object, earliest: string | null = '2025-12-24T18:30:00Z') => {
  const { from, to } = rangeOf(AnalyticsInput.parse(input), now, earliest === null ? null : Date.parse(earliest));
  return [iso(from), iso(to)];
};

describe('a range', () => {
  test.each<[string, object, string[]]>([
    ['the last 30 days by default', {}, ['2026-03-01T00:00Z', '2026-03-30T10:15Z']],
    [
      'a week of a zone, over its clock change',
      { window: 'week', time_zone: 'Europe/Berlin' },
      ['2026-03-23T23:00Z', '2026-03-30T10:15Z'],
    ],
    [
      'everything, from the day of the first run',
      { window: 'all', time_zone: 'Asia/Kathmandu' },
      ['2025-12-24T18:15Z', '2026-03-30T10:15Z'],
    ],
    [
      'exactly the requested one',
      { from: '2026-01-01T00:15:00.000Z', to: '2026-01-01T00:45:00.000Z' },
      ['2026-01-01T00:15Z', '2026-01-01T00:45Z'],
    ],
    ['until now', { from: '2026-03-30T10:00:00.000Z' }, ['2026-03-30T10:00Z', '2026-03-30T10:15Z']],
    ['from the first run until', { to: '2026-01-01T00:00:00.000Z' }, ['2025-12-24T00:00Z', '2026-01-01T00:00Z']],
    [
      'the day before the requested end, if the first run is later',
      { to: '2020-01-02T00:00:00.000Z' },
      ['2020-01-01T00:00Z', '2020-01-02T00:00Z'],
    ],
    ['no earlier than 2000', { from: '1970-01-01T00:00:00.000Z' }, ['2000-01-01T00:00Z', '2026-03-30T10:15Z']],
  ])('%s', (_, input, expected) => expect(range(input)).toEqual(expected));

  test('of everything is today if there are no runs', () => {
    expect(range({ window: 'all' }, null)).toEqual(['2026-03-30T00:00Z', '2026-03-30T10:15Z']);
  });

  test.each<[input: object, expected: string[]]>([
    [{ from: '2026-01-01T00:00:00.001Z', to: '2026-01-01T00:14:59.999Z' }, ['2026-01-01T00:00Z', '2026-01-01T00:15Z']],
    [{ from: '2026-01-01T00:14:59.999Z', to: '2026-01-01T00:15:00.001Z' }, ['2026-01-01T00:00Z', '2026-01-01T00:30Z']],
    [{ from: '2026-01-01T00:01:00Z', to: '2026-01-01T00:02:00Z' }, ['2026-01-01T00:00Z', '2026-01-01T00:15Z']],
    // Two instants of one quarter; the first is its start.
    [{ from: '2026-01-01T00:15:00Z', to: '2026-01-01T00:15:00.001Z' }, ['2026-01-01T00:15Z', '2026-01-01T00:30Z']],
    // An offset that is not a multiple of a quarter, and more digits than a timestamp has.
    [
      { from: '2026-01-01T00:00:00+05:33', to: '2026-01-01T00:00:00.123456789Z' },
      ['2025-12-31T18:15Z', '2026-01-01T00:15Z'],
    ],
    [{ from: '2026-03-30T10:14:59.999Z' }, ['2026-03-30T10:00Z', '2026-03-30T10:15Z']],
    [{ from: '1969-12-31T23:59:59.999Z', to: '2000-01-01T00:00:01Z' }, ['2000-01-01T00:00Z', '2000-01-01T00:15Z']],
  ])('between quarters of an hour is rounded outward: %j', (input, expected) => expect(range(input)).toEqual(expected));

  test('that is empty is refused', () => {
    expect(() => range({ from: '2026-03-30T10:15:00.000Z' })).toThrow('not valid');
    expect(() => range({ to: '1999-01-01T00:00:00.000Z' })).toThrow('not valid');
  });
});

describe('points', () => {
  const points = (input: object, granularity: 'hour' | 'day' | 'week' | 'month') =>
    pointsOf(rangeOf(AnalyticsInput.parse(input), now, null), granularity);

  test('cover the range, from its start', () => {
    const input = { from: '2026-03-28T12:00:00.000Z', to: '2026-03-30T12:00:00.000Z', time_zone: 'Europe/Berlin' };
    expect(points(input, 'day').map(iso)).toEqual(['2026-03-27T23:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z']);
    expect(points(input, 'week').map(iso)).toEqual(['2026-03-22T23:00Z', '2026-03-29T22:00Z']);
    expect(points(input, 'month').map(iso)).toEqual(['2026-02-28T23:00Z']);
    expect(points(input, 'hour')).toHaveLength(48);
  });

  test('are at most 2,000, and the refusal names a granularity that fits', () => {
    const days = (count: number) => ({
      from: '2026-01-01T00:00:00.000Z',
      to: new Date(Date.UTC(2026, 0, 1 + count)).toISOString(),
    });
    expect(points(days(83), 'hour')).toHaveLength(1_992);
    expect(points(days(2_000), 'day')).toHaveLength(2_000);
    const refusal = (count: number, granularity: 'hour' | 'day') => {
      try {
        return points(days(count), granularity);
      } catch (error) {
        return (error as { details: unknown }).details;
      }
    };
    expect(refusal(84, 'hour')).toEqual([
      { path: 'granularity', message: 'would give more than 2,000 points: ask for granularity day, or a shorter time' },
    ]);
    expect(refusal(2_001, 'day')).toMatchObject([{ message: expect.stringContaining('week') }]);
    expect(refusal(4_000_000 / 2, 'day')).toMatchObject([{ message: expect.stringContaining('a shorter time') }]);
  });

  test('are by default as many as a chart shows well', () => {
    const granularityFor = (days: number) => defaultGranularity({ from: 0, to: days * 86_400_000 });
    expect([1, 3, 4, 92, 93, 731, 732].map(granularityFor)).toEqual([
      'hour',
      'hour',
      'day',
      'day',
      'week',
      'week',
      'month',
    ]);
  });
});
