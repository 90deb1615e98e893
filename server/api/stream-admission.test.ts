import { expect, test } from 'vitest';
import { Slices } from './stream-admission.ts';

test('a burst is processed 16 at a time, interleaved with other work of the event loop', async () => {
  const slices = new Slices();
  const order: string[] = [];
  let running = 0;
  let maxRunning = 0;
  const done = new Promise<void>(resolve => {
    for (let n = 0; n < 100; n++) {
      slices.add(async () => {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        await new Promise(setImmediate);
        running -= 1;
        order.push('work');
        if (order.filter(what => what === 'work').length === 100) resolve();
      });
    }
  });
  const between = setInterval(() => order.push('timer'), 0);
  setImmediate(() => order.push('request'));
  await done;
  clearInterval(between);
  expect(maxRunning).toBe(16);
  // The request that came after the whole burst was not the last to be served.
  expect(order.indexOf('request')).toBeLessThan(50);
});
