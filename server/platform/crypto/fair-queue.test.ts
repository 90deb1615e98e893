import { describe, expect, it } from 'vitest';
import { FairQueue, type Requester } from './fair-queue.ts';

class Refused extends Error {}

/** Creates a queue whose work runs until the test ends it; `order` lists the started work. */
function observe({ running, waiting }: { running: number; waiting: number }) {
  const queue = new FairQueue({ running, waiting, refusal: () => new Refused() });
  const order: string[] = [];
  const refused: string[] = [];
  const ends: (() => void)[] = [];
  const requestCheck = ({ address, account }: Requester, name = `${address}/${account}`) => {
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
  return { requestCheck, order, refused, drain };
}

const requester = (address: string, account: string): Requester => ({ address, account });

describe('a queue of password checks', () => {
  it('serves another address after one request of a flood', async () => {
    const { requestCheck, order, refused, drain } = observe({ running: 2, waiting: 64 });
    for (let n = 0; n < 100; n++) void requestCheck(requester('flood', `${n}@example.com`), `flood ${n}`);
    void requestCheck(requester('home', 'owner@example.com'), 'owner');
    await drain();
    expect(order.indexOf('owner')).toBeLessThanOrEqual(3);
    expect(refused).toHaveLength(100 + 1 - 66);
    expect(refused.every(name => name.startsWith('flood'))).toBe(true);
  });

  it('serves another account of the same address too', async () => {
    const { requestCheck, order, refused, drain } = observe({ running: 1, waiting: 8 });
    for (let n = 0; n < 20; n++) void requestCheck(requester('office', 'attacked@example.com'), `attacked ${n}`);
    void requestCheck(requester('office', 'owner@example.com'), 'owner');
    await drain();
    expect(order.indexOf('owner')).toBeLessThanOrEqual(2);
    expect(refused).toHaveLength(12);
    expect(refused).not.toContain('owner');
  });

  it('takes turns between addresses, and in each between accounts, oldest first', async () => {
    const { requestCheck, order, drain } = observe({ running: 1, waiting: 10 });
    for (const who of ['a/1', 'a/1', 'a/2', 'b/1', 'b/1', 'c/1']) {
      const [address = '', account = ''] = who.split('/');
      void requestCheck(requester(address, account));
    }
    await drain();
    expect(order).toEqual(['a/1', 'a/1', 'b/1', 'c/1', 'a/2', 'b/1']);
  });

  it.each([
    { asked: 3, refusals: 0 },
    { asked: 4, refusals: 0 },
    { asked: 5, refusals: 1 },
  ])('refuses requests beyond its places: $asked requested', async ({ asked, refusals }) => {
    const { requestCheck, order, refused, drain } = observe({ running: 2, waiting: 2 });
    for (let n = 0; n < asked; n++) void requestCheck(requester('a', 'x'));
    await drain();
    expect([order.length, refused.length]).toEqual([asked - refusals, refusals]);
  });

  it('releases its place when work fails', async () => {
    const queue = new FairQueue({ running: 1, waiting: 0, refusal: () => new Refused() });
    const failing = queue.run(requester('a', 'x'), () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(await queue.run(requester('a', 'x'), async () => 'done')).toBe('done');
  });
});
