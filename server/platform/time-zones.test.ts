import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zoneOffsetMs } from './time-zones.ts';

const hours = (zone: string, at: string) => (zoneOffsetMs(zone, Date.parse(at)) ?? Number.NaN) / 3_600_000;

test.each([
  ['Europe/Berlin', '2026-01-15T12:00:00Z', 1],
  ['Europe/Berlin', '2026-07-15T12:00:00Z', 2],
  // The clocks go forward at 01:00 UTC, and back in October.
  ['Europe/Berlin', '2026-03-29T00:59:59.999Z', 1],
  ['Europe/Berlin', '2026-03-29T01:00:00Z', 2],
  ['Europe/Berlin', '2026-10-25T01:00:00Z', 1],
  ['America/New_York', '2026-01-01T00:00:00Z', -5],
  ['Asia/Kolkata', '2026-01-01T00:00:00Z', 5.5],
  ['Pacific/Kiritimati', '2026-01-01T00:00:00Z', 14],
  ['Africa/Monrovia', '1970-01-01T00:00:00Z', -2_670 / 3_600],
  ['UTC', '2026-01-01T00:00:00Z', 0],
  ['Z', '2026-01-01T00:00:00Z', 0],
  ['+05:30', '2026-01-01T00:00:00Z', 5.5],
  ['-08:00', '2026-01-01T00:00:00Z', -8],
  ['02:00', '2026-01-01T00:00:00Z', 2],
])('%s at %s', (zone, at, expected) => expect(hours(zone, at)).toBeCloseTo(expected, 5));

test.each(['', 'Mars/Olympus', 'Europe/Berlin ', '+24:00', '+5', '5', '+05:60', '../etc', 'x'.repeat(1_000)])(
  '%j is no zone',
  zone => expect(zoneOffsetMs(zone, 0)).toBeNull(),
);

test('an offset is a number for any instant', () => {
  const zone = fc.constantFrom('Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu');
  const ms = fc.integer({ min: -62_000_000_000_000, max: 253_402_300_799_999 });
  fc.assert(
    fc.property(zone, ms, (name, at) => {
      const offset = zoneOffsetMs(name, at) ?? Number.NaN;
      expect(Math.abs(offset)).toBeLessThanOrEqual(16 * 3_600_000);
    }),
  );
});
