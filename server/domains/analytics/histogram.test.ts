import fc from 'fast-check';
import { expect, test } from 'vitest';
import { binOf, durationOf, Histogram } from './histogram.ts';

const duration = fc.oneof(
  fc.nat(300),
  fc.nat(100_000),
  fc.integer({ min: 0, max: 2 ** 40 }),
  fc.tuple(fc.integer({ min: 8, max: 52 }), fc.integer({ min: -1, max: 1 })).map(([power, by]) => 2 ** power + by),
);

const histogramOf = (durations: readonly number[]) => {
  const histogram = new Histogram();
  for (const ms of durations) histogram.add(binOf(ms));
  return histogram;
};

test('a bin stands for its durations within 0.4 %, and exactly below 256 ms', () => {
  fc.assert(
    fc.property(duration, ms => {
      const reported = durationOf(binOf(ms));
      expect(Math.abs(reported - ms)).toBeLessThanOrEqual(ms * 0.004);
      if (ms < 256) expect(reported).toBe(ms);
    }),
    { numRuns: 2_000 },
  );
});

test('a longer duration is never in a lower bin', () => {
  fc.assert(
    fc.property(duration, duration, (a, b) => {
      expect(binOf(Math.min(a, b))).toBeLessThanOrEqual(binOf(Math.max(a, b)));
    }),
  );
});

test('percentiles are within 0.4 % of those of the sorted durations, for any order of merging', () => {
  fc.assert(
    fc.property(fc.array(fc.array(duration, { maxLength: 40 }), { minLength: 1, maxLength: 6 }), parts => {
      const gathered = new Histogram();
      for (const part of parts) gathered.merge(histogramOf(part).pack());
      const sorted = parts.flat().sort((a, b) => a - b);
      const shares = [0, 0.5, 0.95, 0.99, 1];
      const reported = gathered.percentiles(...shares);
      shares.forEach((share, index) => {
        const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1];
        if (exact === undefined) expect(reported[index]).toBeNull();
        else expect(Math.abs((reported[index] ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.004);
      });
      expect(gathered.pack()).toEqual(histogramOf(sorted).pack());
    }),
  );
});

test('truncated bytes are refused', () => {
  const packed = histogramOf([1, 500, 70_000]).pack();
  expect(() => new Histogram().merge(packed.subarray(0, packed.length - 1))).toThrow(RangeError);
});
