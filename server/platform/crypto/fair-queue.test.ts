import { describe, expect, it } from 'vitest';
import { FairQueue, type Requester } from './fair-queue.ts';

class Refused extends Error {}

/** A queue whose work runs until the test ends it; `order` lists the work that was started. */
function observe({ running, waiting }: { running: number; waiting: number }) {
  const queue = new FairQueue({ running, waiting, refusal: () => new Refused() });
  const order: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const ask = ({ address, account }: Requester, name = `${address}/${account}`) => {
    const work = () => {
      order.push(name);
      return new Promise<void>(resolve => ends.push(resolve));
    };
    return queue.run({ address, account }, work).catch(error => {
      if (!(error instanceof Refused)) throw error;
      refused.push(name);
    });
  };
  /** Ends the running work, one item after the other, until nothing is left. */
  const drain = async () => {
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
  };
  return { ask, order, refused, drain };
}

const of = (address: string, account: string): Requester => ({ address, account });

describe('a queue of password checks', () => {
  it('serves another address after one request of a flood', async () => {
    const { ask, order, refused, drain } = observe({ running: 2, waiting: 64 });
    for (let n = 0; n < 100; n++) void ask(of('flood', `${n}@example.com`), `flood ${n}`);
    void ask(of('home', 'owner@example.com'), 'owner');
    await drain();
    expect(order.indexOf('owner')).toBeLessThanOrEqual(3);
    expect(refused).toHaveLength(100 + 1 - 66);
    expect(refused.every(name => name.startsWith('flood'))).toBe(true);
  });

  it('serves another account of the same address too', async () => {
    const { ask, order, refused, drain } = observe({ running: 1, waiting: 8 });
    for (let n = 0; n < 20; n++) void ask(of('office', 'attacked@example.com'), `attacked ${n}`);
    void ask(of('office', 'owner@example.com'), 'owner');
    await drain();
    expect(order.indexOf('owner')).toBeLessThanOrEqual(2);
    expect(refused).toHaveLength(12);
    expect(refused).not.toContain('owner');
  });

  it('takes turns between addresses, and in each between accounts, oldest first', async () => {
    const { ask, order, drain } = observe({ running: 1, waiting: 10 });
    for (const who of ['a/1', 'a/1', 'a/2', 'b/1', 'b/1', 'c/1']) {
      const [address = '', account = ''] = who.split('/');
      void ask(of(address, account));
    }
    await drain();
    expect(order).toEqual(['a/1', 'a/1', 'b/1', 'c/1', 'a/2', 'b/1']);
  });

  it.each([
    { asked: 3, refusals: 0 },
    { asked: 4, refusals: 0 },
    { asked: 5, refusals: 1 },
  ])('refuses beyond its places: $asked asked', async ({ asked, refusals }) => {
    const { ask, order, refused, drain } = observe({ running: 2, waiting: 2 });
    for (let n = 0; n < asked; n++) void ask(of('a', 'x'));
    await drain();
    expect([order.length, refused.length]).toEqual([asked - refusals, refusals]);
  });

  it('releases its place when work fails', async () => {
    const queue = new FairQueue({ running: 1, waiting: 0, refusal: () => new Refused() });
    const failing = queue.run(of('a', 'x'), () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(await queue.run(of('a', 'x'), async () => 'done')).toBe('done');
  });
});
