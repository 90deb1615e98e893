import { expect, test } from 'vitest';
import { Slices } from './stream-admission.ts';

test('a burst is worked off a few at a time, and other work of the event loop comes in between', async () => {
  const slices = new Slices();
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const done = new Promise<void>(resolve => {
    for (let n = 0; n < 100; n++) {
      slices.add(async () => {
        running += 1;
        most = Math.max(most, running);
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
  expect(most).toBe(16);
  // The request that came after the whole burst was not the last to be served.
  expect(order.indexOf('request')).toBeLessThan(50);
});
