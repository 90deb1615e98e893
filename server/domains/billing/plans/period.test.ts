import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextPeriodStart, periodStart } from './period.ts';

const iso = (at: number) => new Date(at).toISOString();
const monthly = { interval: 'month', intervalCount: 1 } as const;

/** Calendar dates from the year 2000 to 2100, to the millisecond. */
const anchor = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2100, 0, 1) });
const plan = fc.record({
  interval: fc.constantFrom('day' as const, 'week' as const, 'month' as const, 'year' as const),
  intervalCount: fc.integer({ min: 1, max: 36 }),
});

test('the 31st comes back after a short month, the 29th of February after three years', () => {
  const january = Date.parse('2026-01-31T23:59:59.999Z');
  expect([0, 1, 2, 3, 12, 25].map(count => iso(periodStart(january, monthly, count)))).toEqual([
    '2026-01-31T23:59:59.999Z',
    '2026-02-28T23:59:59.999Z',
    '2026-03-31T23:59:59.999Z',
    '2026-04-30T23:59:59.999Z',
    '2027-01-31T23:59:59.999Z',
    '2028-02-29T23:59:59.999Z',
  ]);
  const leap = Date.parse('2028-02-29T00:00:00.000Z');
  const yearly = { interval: 'year', intervalCount: 1 } as const;
  expect([1, 4].map(count => iso(periodStart(leap, yearly, count)).slice(0, 10))).toEqual(['2029-02-28', '2032-02-29']);
});

describe('for every anchor and interval', () => {
  test('months keep the time of day, and the day wherever the month has it', () => {
    fc.assert(
      fc.property(anchor, fc.integer({ min: 0, max: 600 }), (from, count) => {
        const [first, then] = [new Date(from), new Date(periodStart(from, monthly, count))];
        const months = (date: Date) => date.getUTCFullYear() * 12 + date.getUTCMonth();
        expect(months(then) - months(first)).toBe(count);
        expect(iso(then.getTime()).slice(10)).toBe(iso(from).slice(10));
        const last = new Date(Date.UTC(then.getUTCFullYear(), then.getUTCMonth() + 1, 0)).getUTCDate();
        expect(then.getUTCDate()).toBe(Math.min(first.getUTCDate(), last));
      }),
    );
  });

  test('the next period starts at the first start after the instant', () => {
    fc.assert(
      fc.property(anchor, plan, fc.integer({ min: 0, max: 20 * 365 * 86_400_000 }), (from, every, later) => {
        const at = from + later;
        const next = nextPeriodStart(from, every, at);
        const count = Array.from({ length: 7400 }, (_, n) => n).find(n => periodStart(from, every, n) > at);
        expect(next).toBe(periodStart(from, every, count ?? Number.NaN));
      }),
      { numRuns: 60 },
    );
  });
});
