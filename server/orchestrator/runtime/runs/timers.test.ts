import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Alarm } from '../../../platform/clock.ts';
import { ManualTime } from '../../../testing/engine/runtime.ts';
import { Timers } from './timers.ts';

test('timers ring in the order of their due times, whatever is set and cancelled in between', () => {
  const commands = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('set' as const), delay: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ kind: fc.constant('cancel' as const), which: fc.nat() }),
      fc.record({ kind: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 20 }) }),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(commands, list => {
      const time = new ManualTime();
      const timers = new Timers(time.clock, time.alarm);
      const rung: number[] = [];
      const open = new Map<number, { dueAt: number; handle: ReturnType<Timers['set']> }>();
      let next = 0;
      for (const command of list) {
        if (command.kind === 'set') {
          const id = next++;
          const dueAt = time.clock.now() + command.delay;
          const handle = timers.set(dueAt, () => {
            expect(dueAt).toBeLessThanOrEqual(time.clock.now());
            expect(open.delete(id)).toBe(true);
            rung.push(dueAt);
          });
          open.set(id, { dueAt, handle });
        } else if (command.kind === 'cancel') {
          const [id, timer] = [...open][command.which % Math.max(open.size, 1)] ?? [];
          if (id === undefined || timer === undefined) continue;
          timers.cancel(timer.handle);
          timers.cancel(timer.handle);
          open.delete(id);
        } else {
          rung.length = 0;
          time.advance(command.ms);
          expect(rung).toEqual([...rung].sort((a, b) => a - b));
          for (const { dueAt } of open.values()) expect(dueAt).toBeGreaterThan(time.clock.now());
        }
        expect(timers.size).toBe(open.size);
      }
    }),
  );
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'a timer for %s is refused, and the others ring',
  dueAt => {
    const time = new ManualTime();
    const timers = new Timers(time.clock, time.alarm);
    const rung: number[] = [];
    for (const delay of [3, 1, 2]) {
      timers.set(time.clock.now() + delay, () => rung.push(delay));
      expect(() => timers.set(dueAt, () => rung.push(dueAt))).toThrow(RangeError);
    }
    time.advance(3);
    expect(rung).toEqual([1, 2, 3]);
  },
);

test('a timer that was decided before the clock was set back rings after the delay that was meant', () => {
  const time = new ManualTime();
  const timers = new Timers(time.clock, time.alarm);
  const rung: string[] = [];
  const asOf = time.clock.now();
  time.advance(-3_600_000);
  timers.set(asOf + 300, () => rung.push('retry'), asOf);
  time.advance(299);
  expect(rung).toEqual([]);
  time.advance(1);
  expect(rung).toEqual(['retry']);
});

test('a clock that is set back delays no earlier timer; an alarm with a maximum delay is set repeatedly', () => {
  const waits: number[] = [];
  let ring = () => {};
  let now = 10_000_000;
  const alarm: Alarm = (delayMs, due) => {
    waits.push(delayMs);
    ring = due;
    return () => {};
  };
  alarm.longestMs = 5_000;
  const timers = new Timers({ now: () => now }, alarm);
  const rung: string[] = [];
  timers.set(now + 8_000, () => rung.push('before'));
  now -= 3_600_000;
  timers.set(now + 9_000, () => rung.push('after'));
  for (; timers.size > 0; ) {
    now += waits.at(-1) ?? 0;
    ring();
  }
  expect(rung).toEqual(['before', 'after']);
  expect(waits).toEqual([5_000, 3_000, 1_000]);
});
