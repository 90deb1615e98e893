import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ManualClock } from './clock.ts';
import { RequestTurns } from './request-turns.ts';

/** Creates requests that the test ends, with a clock that the test advances. */
function createRequests() {
  const clock = new ManualClock(0);
  let alarms: { at: number; ring: () => void }[] = [];
  const turns = new RequestTurns({
    clock,
    alarm: (ms, ring) => {
      alarms.push({ at: clock.now() + ms, ring });
      return () => undefined;
    },
  });
  const begun: string[] = [];
  const open = new Map<string, { resolve: () => void; reject: (error: unknown) => void }>();
  return {
    /** Sends `count` requests of a tenant. Their names are the tenant's id and a number, beginning with `from`. */
    send: (tenantId: string, count: number, from = 1) =>
      Array.from({ length: count }, (_, index) => {
        const name = `${tenantId}${from + index}`;
        return turns.take(tenantId, () => {
          begun.push(name);
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          open.set(name, { resolve, reject });
          return promise;
        });
      }),
    end: (name: string) => open.get(name)?.resolve(),
    fail: (name: string, error: Error) => open.get(name)?.reject(error),
    /** The requests that have begun since the last call. */
    begun: async () => {
      await turn();
      return begun.splice(0).join(' ');
    },
    pass: (ms: number) => {
      clock.advance(ms);
      const due = alarms.filter(({ at }) => at <= clock.now());
      alarms = alarms.filter(({ at }) => at > clock.now());
      for (const { ring } of due) ring();
    },
  };
}

test('a tenant may have any number of requests in progress while no other tenant sends requests', async () => {
  const { send, begun } = createRequests();
  send('a', 50);
  expect((await begun()).split(' ')).toHaveLength(50);
});

test('while another tenant sends requests, a tenant has four requests in progress and the rest wait in order', async () => {
  const { send, begun, end, fail } = createRequests();
  send('b', 1);
  const sent = send('a', 7);
  expect(await begun()).toBe('b1 a1 a2 a3 a4');
  send('b', 1, 2);
  expect(await begun()).toBe('b2');
  end('a3');
  expect(await begun()).toBe('a5');
  const failed = expect(sent[0]).rejects.toThrow('broken');
  fail('a1', new Error('broken'));
  await failed;
  expect(await begun()).toBe('a6');
  end('a2');
  end('a4');
  expect(await begun()).toBe('a7');
  send('a', 2, 8);
  expect(await begun()).toBe('a8');
});

test('a slow request does not delay the requests behind it', async () => {
  const { send, begun, pass } = createRequests();
  send('b', 1);
  send('a', 9);
  expect(await begun()).toBe('b1 a1 a2 a3 a4');
  pass(99);
  expect(await begun()).toBe('');
  pass(1);
  expect(await begun()).toBe('a5 a6 a7 a8');
  pass(100);
  expect(await begun()).toBe('a9');
});

test('all waiting requests begin once the other tenant has sent none for a second', async () => {
  const { send, begun, end, pass } = createRequests();
  send('b', 1);
  for (let n = 1; n <= 9; n += 4) send('a', 4, n);
  expect(await begun()).toBe('b1 a1 a2 a3 a4');
  pass(1_001);
  expect(await begun()).toBe('a5 a6 a7 a8 a9 a10 a11 a12');
  end('a1');
  send('a', 3, 13);
  expect(await begun()).toBe('a13 a14 a15');
});
