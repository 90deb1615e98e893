import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QUARTER_HOUR_MS } from '../../platform/clock.ts';
import { createZone, type Unit, units } from './time-zone.ts';

const zones = Intl.supportedValuesOf('timeZone');
const since = Date.UTC(2000, 0, 2);
const instant = fc
  .integer({ min: since / QUARTER_HOUR_MS, max: Date.UTC(2037, 0, 1) / QUARTER_HOUR_MS })
  .map(n => n * QUARTER_HOUR_MS);

/** Returns the time on a wall clock, read from Intl in another way than the code does: `2026-03-29 01:45`. */
const formats = new Map<string, Intl.DateTimeFormat>();
function wallClock(zone: string, at: number): string {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(zone, format);
  }
  return format.format(at);
}

/** Returns the part of a wall-clock time that must be the same throughout a bucket. */
function nameOf(unit: Unit, text: string): string {
  switch (unit) {
    case 'hour':
      return text.slice(0, 13);
    case 'day':
      return text.slice(0, 10);
    case 'week': {
      const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
      return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
    }
    case 'month':
      return text.slice(0, 7);
  }
}

/** Returns instants around which a zone changes its clocks, found by comparing the offsets of adjacent days. */
function findClockChanges(zone: string, from: number, to: number): number[] {
  const offset = (at: number) => Date.parse(`${wallClock(zone, at).replace(' ', 'T')}:00Z`) - at;
  const found: number[] = [];
  for (let at = from; at < to; at += 86_400_000) if (offset(at) !== offset(at + 86_400_000)) found.push(at);
  return found;
}

describe.each(units)('%s', unit => {
  test('contains the instant, starts on a quarter, and the next one follows without a gap', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), instant, (name, at) => {
        const zone = createZone(name);
        const start = zone.startOf(unit, at);
        const next = zone.next(unit, at);
        expect(start).toBeLessThanOrEqual(at);
        expect(next).toBeGreaterThan(at);
        expect(start % QUARTER_HOUR_MS).toBe(0);
        expect(zone.startOf(unit, start)).toBe(start);
        expect(zone.startOf(unit, next - QUARTER_HOUR_MS)).toBe(start);
        expect(zone.startOf(unit, next)).toBe(next);
        expect(zone.next(unit, start)).toBe(next);
      }),
      { numRuns: 1_000 },
    );
  });

  test('agrees with the clock on both sides of it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), instant, (name, at) => {
        const start = createZone(name).startOf(unit, at);
        // Clocks that go back over midnight show the previous day again. All others show one name for a bucket.
        const isTurnedBack =
          wallClock(name, at) < wallClock(name, start) ||
          wallClock(name, start) < wallClock(name, start - QUARTER_HOUR_MS);
        if (!isTurnedBack) expect(nameOf(unit, wallClock(name, at))).toBe(nameOf(unit, wallClock(name, start)));
        if (!isTurnedBack)
          expect(nameOf(unit, wallClock(name, start - QUARTER_HOUR_MS))).not.toBe(nameOf(unit, wallClock(name, start)));
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Returns the wall-clock times at which the buckets of a period start. */
const bucketStarts = (name: string, unit: Unit, from: string, to: string): string[] => {
  const zone = createZone(name);
  const starts: string[] = [];
  for (let at = zone.startOf(unit, Date.parse(from)); at < Date.parse(to); at = zone.next(unit, at))
    starts.push(wallClock(name, at));
  return starts;
};

describe('where clocks change', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29T00:00:00Z', '2026-03-29T03:00:00Z', ['01', '03', '04']],
    ['Europe/Berlin', '2026-10-25T00:00:00Z', '2026-10-25T03:00:00Z', ['02', '02', '03']],
    // Half an hour: the hour that changes is as long as its clock shows it.
    ['Australia/Lord_Howe', '2026-04-04T14:00:00Z', '2026-04-04T17:00:00Z', ['01', '02', '03']],
    ['Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z', ['05', '06', '07']],
    ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z', ['05', '06', '07']],
  ])('hours of %s from %s', (zone, from, to, hours) => {
    expect(bucketStarts(zone, 'hour', from, to).map(text => text.slice(11, 13))).toEqual(hours);
  });

  test('a day starts after a skipped midnight, and at the first of two midnights', () => {
    // Clocks of Beirut go from 24:00 to 01:00, those of Havana from 01:00 back to 00:00, those of St. John's went from 00:01 back.
    expect(bucketStarts('Asia/Beirut', 'day', '2024-03-30T12:00:00Z', '2024-04-01T12:00:00Z')).toEqual([
      '2024-03-30 00:00',
      '2024-03-31 01:00',
      '2024-04-01 00:00',
    ]);
    const zone = createZone('America/Havana');
    const day = zone.startOf('day', Date.parse('2026-11-01T12:00:00Z'));
    expect(new Date(day).toISOString()).toBe('2026-11-01T04:00:00.000Z');
    expect(zone.next('day', day) - day).toBe(25 * 3_600_000);
    expect(bucketStarts('America/St_Johns', 'day', '2010-11-06T12:00:00Z', '2010-11-08T12:00:00Z')).toEqual([
      '2010-11-06 00:00',
      '2010-11-07 00:00',
      '2010-11-08 00:00',
    ]);
  });

  test('a day that a zone skipped has no length, and is left out', () => {
    expect(bucketStarts('Pacific/Apia', 'day', '2011-12-29T12:00:00Z', '2011-12-31T20:00:00Z')).toEqual([
      '2011-12-29 00:00',
      '2011-12-31 00:00',
      '2012-01-01 00:00',
    ]);
  });

  test('a day around a clock change contains only times that its clocks show with one date', () => {
    // One zone in five: all of them take 16 s.
    for (const name of zones.filter((_, n) => n % 5 === 0)) {
      for (const at of findClockChanges(name, Date.UTC(2024, 0, 1), Date.UTC(2025, 0, 1))) {
        const zone = createZone(name);
        for (const near of [at - 86_400_000, at, at + 86_400_000]) {
          const start = zone.startOf('day', near);
          const texts: string[] = [];
          for (let q = start; q < zone.next('day', start); q += QUARTER_HOUR_MS)
            texts.push(wallClock(name, q).slice(0, 10));
          expect(new Set(texts), `${name} ${new Date(near).toISOString()}`).toEqual(new Set([texts[0]]));
        }
      }
    }
  });
});

test('weeks begin on Monday', () => {
  expect(bucketStarts('America/New_York', 'week', '2026-03-04T12:00:00Z', '2026-03-24T00:00:00Z')).toEqual([
    '2026-03-02 00:00',
    '2026-03-09 00:00',
    '2026-03-16 00:00',
    '2026-03-23 00:00',
  ]);
});

test('an unknown zone is refused', () => {
  expect(() => createZone('Mars/Olympus')).toThrow(RangeError);
});
