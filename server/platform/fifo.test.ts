import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from './fifo.ts';

test('behaves like an array, in any order of operations', () => {
  const operations = fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant('push' as const) },
      { weight: 4, arbitrary: fc.constant('shift' as const) },
      { weight: 1, arbitrary: fc.constant('unshift' as const) },
    ),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(operations, fc.integer({ min: 1, max: 1_500 }), (drawn, length) => {
      const fifo = new Fifo<number>();
      const items: number[] = [];
      for (let n = 0; n < length; n++) {
        fifo.push(n);
        items.push(n);
      }
      // Beyond 1,024 taken items the rest moves to another array.
      const taken = Array.from({ length: Math.max(0, length - 50) }, () => fifo.shift());
      expect(taken).toEqual(items.splice(0, taken.length));
      for (const [at, operation] of drawn.entries()) {
        if (operation === 'shift') expect(fifo.shift()).toBe(items.shift());
        else {
          fifo[operation](-at);
          items[operation](-at);
        }
        expect(fifo.size).toBe(items.length);
        expect(fifo.peek()).toBe(items[0]);
      }
      expect([...fifo]).toEqual(items);
    }),
    { numRuns: 50 },
  );
});
