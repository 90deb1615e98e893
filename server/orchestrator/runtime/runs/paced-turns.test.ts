import { expect, test } from 'vitest';
import { ManualClock } from '../../../platform/clock.ts';
import { PacedTurns } from './paced-turns.ts';

/** An event loop and a clock that the test controls; work takes as long as it declares. */
function createPace({ isShared }: { isShared: boolean }) {
  const clock = new ManualClock(0);
  const deferred: (() => void)[] = [];
  const rests: { ms: number; end: () => void }[] = [];
  const done: string[] = [];
  const shared = { isShared };
  const pace = new PacedTurns(
    {
      clock,
      defer: callback => void deferred.push(callback),
      alarm: (ms, end) => {
        rests.push({ ms, end });
        return () => undefined;
      },
    },
    () => shared.isShared,
  );
  return {
    shared,
    rests,
    add: (name: string, tookMs: number, isFirst = false) =>
      pace.next(() => {
        done.push(name);
        clock.advance(tookMs);
      }, isFirst),
    /** Turns the event loop once; returns what was done. */
    turn: () => {
      for (const act of deferred.splice(0)) act();
      return done.splice(0);
    },
  };
}

test('each piece of work has a turn of its own, one after the other', () => {
  const { add, turn, rests } = createPace({ isShared: false });
  for (const name of ['a', 'b', 'c']) add(name, 5);
  expect([turn(), turn(), turn(), turn()]).toEqual([['a'], ['b'], ['c'], []]);
  expect(rests).toEqual([]);
  add('d', 5);
  expect(turn()).toEqual(['d']);
});

test.each([
  [0, 1],
  [1, 4],
  [4, 16],
  [5, 20],
  [6, 20],
  [-50, 1],
])('while others are present, %s ms of work are followed by a rest of %s ms', (tookMs, restMs) => {
  const { add, turn, rests } = createPace({ isShared: true });
  add('a', tookMs);
  add('b', 0);
  expect(turn()).toEqual(['a']);
  expect([turn(), turn()]).toEqual([[], []]);
  expect(rests.map(({ ms }) => ms)).toEqual([restMs]);
  rests[0]?.end();
  expect(turn()).toEqual(['b']);
});

test('what comes first does not wait behind the others, nor without a rest', () => {
  const { add, turn, rests } = createPace({ isShared: true });
  add('a', 1);
  add('b', 1);
  expect(turn()).toEqual(['a']);
  add('c', 1, true);
  expect([turn(), turn()]).toEqual([[], []]);
  rests.splice(0)[0]?.end();
  expect(turn()).toEqual(['c']);
  rests.splice(0)[0]?.end();
  expect(turn()).toEqual(['b']);
});
