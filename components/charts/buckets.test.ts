import { describe, expect, test } from 'vitest';
import { bucketName, bucketTick } from './buckets.ts';

describe('a bucket is named after its start in the time zone', () => {
  const berlinMidnight = '2026-03-08T23:00:00.000Z';
  test('day', () => {
    expect(bucketTick(berlinMidnight, 'day', 'Europe/Berlin')).toBe('9 Mar');
    expect(bucketTick(berlinMidnight, 'day', 'UTC')).toBe('8 Mar');
    expect(bucketName(berlinMidnight, 'day', 'Europe/Berlin')).toBe('Mon, 9 Mar 2026');
  });
  test('hour, with the day at midnight', () => {
    expect(bucketTick(berlinMidnight, 'hour', 'Europe/Berlin')).toBe('9 Mar');
    expect(bucketTick(berlinMidnight, 'hour', 'UTC')).toBe('23:00');
  });
  test('the two equal hours of an autumn night have different names', () => {
    const [first, second] = ['2026-10-25T00:00:00.000Z', '2026-10-25T01:00:00.000Z'].map(at =>
      bucketName(at, 'hour', 'Europe/Berlin'),
    );
    expect(first).toContain('02:00');
    expect(second).toContain('02:00');
    expect(first).not.toBe(second);
  });
  test('week and month', () => {
    expect(bucketName(berlinMidnight, 'week', 'Europe/Berlin')).toBe('Week of 9 Mar 2026');
    expect(bucketTick('2026-02-28T23:00:00.000Z', 'month', 'Europe/Berlin')).toBe('Mar 2026');
    expect(bucketName('2026-02-28T23:00:00.000Z', 'month', 'Europe/Berlin')).toBe('March 2026');
  });
});
