import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QUARTER_HOUR_MS } from '../../platform/clock.ts';
import { bucketOf, DAY, HOUR, joinedSegments, MONTH, QUARTER, segmentsOf } from './buckets.ts';

const instant = fc
  .integer({ min: Date.UTC(2023, 0, 1) / QUARTER_HOUR_MS, max: Date.UTC(2027, 0, 1) / QUARTER_HOUR_MS })
  .map(n => n * QUARTER_HOUR_MS);
const timeOf = (text: string) => Date.parse(text);

test('segments are contiguous, and consist of whole buckets', () => {
  fc.assert(
    fc.property(instant, instant, (a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      let end = from;
      for (const segment of segmentsOf(from, to)) {
        expect(segment.from).toBe(end);
        expect(segment.to).toBeGreaterThan(segment.from);
        expect(bucketOf(segment.grain, segment.from)).toBe(segment.from);
        expect(bucketOf(segment.grain, segment.to)).toBe(segment.to);
        end = segment.to;
      }
      expect(end).toBe(to);
      expect(segmentsOf(from, to).length).toBeLessThanOrEqual(7);
    }),
  );
});

test('segments are coarse inside a range and fine at its edges', () => {
  expect(segmentsOf(timeOf('2026-01-30T22:45:00Z'), timeOf('2026-03-02T01:15:00Z'))).toEqual([
    { grain: QUARTER, from: timeOf('2026-01-30T22:45:00Z'), to: timeOf('2026-01-30T23:00:00Z') },
    { grain: HOUR, from: timeOf('2026-01-30T23:00:00Z'), to: timeOf('2026-01-31') },
    { grain: DAY, from: timeOf('2026-01-31'), to: timeOf('2026-02-01') },
    { grain: MONTH, from: timeOf('2026-02-01'), to: timeOf('2026-03-01') },
    { grain: DAY, from: timeOf('2026-03-01'), to: timeOf('2026-03-02') },
    { grain: HOUR, from: timeOf('2026-03-02'), to: timeOf('2026-03-02T01:00:00Z') },
    { grain: QUARTER, from: timeOf('2026-03-02T01:00:00Z'), to: timeOf('2026-03-02T01:15:00Z') },
  ]);
});

test('the days of a zone with an offset of whole hours are one segment of hours', () => {
  const days = [timeOf('2026-01-01T05:00:00Z'), timeOf('2026-01-02T05:00:00Z'), timeOf('2026-01-03T05:00:00Z')];
  const end = timeOf('2026-01-04T05:00:00Z');
  expect(joinedSegments(days, end)).toEqual([{ grain: HOUR, from: days[0], to: end }]);
});
