import { describe, expect, test } from 'vitest';
import { type Claimant, guaranteedSlots, Slots } from './slots.ts';

const limits = (maxInFlight: number, maxInFlightPerTenant: number, maxCallsInFlight = 1) => ({
  maxInFlight,
  maxInFlightPerTenant,
  maxCallsInFlight,
});
const slotsOf = (...of: Parameters<typeof limits>) => new Slots(limits(...of));

/** A run that wants `wanted` slots and notes in `order` when it gets one. */
function claimant(tenantId: string, wanted: number, order: string[], name = tenantId): Claimant {
  let left = wanted;
  return {
    tenantId,
    wants: () => left > 0,
    grant() {
      left -= 1;
      order.push(name);
    },
  };
}

/** Offers the claimants one after the other and returns who was granted a slot, in order. */
function pumped(slots: Slots, ...claimants: [tenantId: string, wanted: number, name?: string][]): string[] {
  const order: string[] = [];
  for (const [tenantId, wanted, name] of claimants) slots.offer(claimant(tenantId, wanted, order, name));
  slots.pump();
  return order;
}

test('slots go round robin across tenants, in any order of arrival', () => {
  const order: string[] = [];
  const slots = slotsOf(10, 10, 10);
  slots.offer(claimant('a', 100, order));
  slots.offer(claimant('b', 2, order));
  slots.offer(claimant('c', 100, order));
  slots.pump();
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'c']);
  slots.release('a', 'step');
  slots.release('a', 'step');
  slots.release('b', 'step');
  slots.pump();
  // The third one waited for just the slot that the last release freed.
  expect(order.slice(8)).toEqual(['a', 'c', 'a']);
});

test('within a tenant they go round robin across its runs', () => {
  const slots = slotsOf(8, 4, 8);
  expect(pumped(slots, ['a', 10, 'first'], ['a', 10, 'second'])).toEqual(['first', 'second', 'first', 'second']);
});

test.each([
  [1, 1],
  [3, 3],
  [4, 3],
])('a tenant that wants %i gets %i of its 3, and leaves the rest to others', (wanted, granted) => {
  const order: string[] = [];
  const slots = slotsOf(10, 3, 10);
  slots.offer(claimant('a', wanted, order));
  slots.pump();
  expect(order).toHaveLength(granted);
  slots.offer(claimant('b', 1, order));
  slots.pump();
  expect(order.at(-1)).toBe('b');
  if (wanted > granted) {
    slots.release('a', 'step');
    slots.pump();
    expect(order.at(-1)).toBe('a');
  }
});

test('a run that no longer wants costs no other run a slot', () => {
  const slots = slotsOf(1, 1, 1);
  expect(pumped(slots, ['a', 0], ['b', 1])).toEqual(['b']);
  expect(slots.inUse).toBe(1);
});

test('a run that no longer wants costs its tenant no turn', () => {
  const slots = slotsOf(4, 2, 4);
  expect(pumped(slots, ['a', 0, 'stopped'], ['a', 1], ['b', 1])).toEqual(['a', 'b']);
});

describe('attempts that hang do not use up what others need', () => {
  const inFlight = (slots: Slots, tenant: string): number => slots.inUseByTenant().get(tenant) ?? 0;

  test('one tenant fills half of the total, n tenants n/(n+1) of it', () => {
    const slots = slotsOf(512, 512, 1);
    pumped(slots, ['hostile 1', 10_000]);
    expect(slots.inUse).toBe(256);
    pumped(slots, ['hostile 2', 10_000]);
    // The first tenant keeps what it holds; the second gets half of what is left.
    expect(slots.inUse).toBe(384);
    pumped(slots, ['honest', 10_000]);
    expect(inFlight(slots, 'honest')).toBe(64);
  });

  test('tenants that arrive at the same time get the same', () => {
    const slots = slotsOf(400, 400, 1);
    pumped(slots, ['a', 1_000], ['b', 1_000], ['c', 1_000]);
    expect([...slots.inUseByTenant().values()]).toEqual([100, 100, 100]);
  });

  test('with any number of them, one that comes later gets its guaranteed slots at once', () => {
    const slots = slotsOf(512, 256, 1);
    for (let n = 0; n < 1_000; n++) pumped(slots, [`hostile ${n}`, 1_000]);
    expect(pumped(slots, ['honest', 1_000])).toHaveLength(guaranteedSlots(limits(512, 256)));
    // Only the guaranteed slots exceed the total.
    expect(slots.inUse).toBeLessThanOrEqual(512 + 1_001 * guaranteedSlots(limits(512, 256)));
    // It may use them repeatedly, although the total is exceeded.
    slots.release('honest', 'step');
    const again = pumped(slots, ['honest', 1]);
    expect(inFlight(slots, 'honest') + again.length).toBeGreaterThanOrEqual(guaranteedSlots(limits(512, 256)));
  });

  test('a tenant over its share waits until enough is free, and is not forgotten', () => {
    const slots = slotsOf(8, 8, 1);
    const order: string[] = [];
    slots.offer(claimant('a', 6, order));
    slots.offer(claimant('b', 2, order));
    slots.pump();
    expect(order).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(slots.waiting).toBe(false);
    slots.release('b', 'step');
    expect(slots.waiting).toBe(true);
    slots.pump();
    // It holds three, and four are free.
    expect(order.slice(5)).toEqual(['a']);
    slots.release('b', 'step');
    slots.pump();
    expect(order.slice(6)).toEqual([]);
    slots.release('a', 'step');
    slots.pump();
    expect(order.slice(6)).toEqual(['a']);
  });

  test('all that wait for what one tenant releases are served before it is served twice', () => {
    const slots = slotsOf(6, 6, 1);
    const order: string[] = [];
    slots.offer(claimant('b', 5, order));
    slots.pump();
    slots.offer(claimant('c', 2, order));
    slots.offer(claimant('d', 2, order));
    slots.pump();
    expect(order).toEqual(['b', 'b', 'b', 'c', 'd']);
    for (let n = 0; n < 3; n++) slots.release('b', 'step');
    slots.pump();
    expect(order.slice(5)).toEqual(['c', 'b', 'd']);
  });

  test('each slot that is released gives a parked tenant its turn, even if the tenant that releases it was parked first', () => {
    const slots = slotsOf(5, 2, 1);
    const order: string[] = [];
    slots.offer(claimant('b', 3, order));
    slots.pump();
    slots.offer(claimant('a', 3, order));
    slots.offer(claimant('c', 3, order));
    slots.pump();
    expect(order).toEqual(['b', 'b', 'a', 'c']);
    slots.release('a', 'step');
    slots.release('b', 'step');
    slots.pump();
    expect(order.slice(4)).toEqual(['a', 'c']);
  });

  test('tenants that wait for the same slot are served in order, even if the first releases it itself', () => {
    const slots = slotsOf(4, 4, 1);
    const order: string[] = [];
    for (const [tenant, wanted] of [['a', 1] as const, ['c', 3] as const, ['b', 3] as const])
      slots.offer(claimant(tenant, wanted, order));
    slots.pump();
    expect(order).toEqual(['a', 'c', 'b']);
    slots.release('c', 'step');
    slots.pump();
    slots.release('c', 'step');
    slots.pump();
    expect(order.slice(3)).toEqual(['c', 'b', 'c']);
  });

  test('a parked tenant that no longer wants a slot passes its turn to the next one', () => {
    const slots = slotsOf(5, 5, 1);
    const order: string[] = [];
    pumped(slots, ['a', 2]);
    let isStopped = false;
    const stopped = claimant('c', 2, order);
    slots.offer({ ...stopped, wants: () => !isStopped && stopped.wants() });
    slots.offer(claimant('b', 2, order));
    slots.pump();
    slots.offer(claimant('a', 1, order));
    slots.pump();
    expect(order).toEqual(['c', 'b']);
    isStopped = true;
    slots.release('a', 'step');
    slots.pump();
    expect(order.slice(2)).toEqual(['b']);
  });

  test.each([
    [63, 1],
    [64, 1],
    [128, 2],
    [256, 4],
  ])('of a limit of %i, %i are guaranteed', (limit, guaranteed) => {
    expect(guaranteedSlots(limits(512, limit))).toBe(guaranteed);
    expect(guaranteedSlots(limits(limit, 512))).toBe(guaranteed);
  });
});

describe('calls', () => {
  test('free their slots for other steps, and are released as calls', () => {
    const slots = slotsOf(4, 2, 100);
    for (let n = 0; n < 40; n++) {
      expect(pumped(slots, ['a', 1])).toEqual(['a']);
      expect(slots.moveToCalls('a')).toBe(true);
    }
    expect(slots.inUse).toBe(40);
    expect(pumped(slots, ['a', 3])).toHaveLength(2);
    slots.release('a', 'call');
    slots.pump();
    expect(slots.inUse).toBe(41);
    for (let n = 0; n < 39; n++) slots.release('a', 'call');
    for (let n = 0; n < 2; n++) slots.release('a', 'step');
    slots.pump();
    expect(slots.inUse).toBe(1);
  });

  test('are shared like slots: half for one tenant, and a guaranteed one for each', () => {
    const slots = slotsOf(100, 10, 4);
    const moves = (tenant: string) => {
      pumped(slots, [tenant, 1]);
      return slots.moveToCalls(tenant);
    };
    expect([moves('a'), moves('a'), moves('a')]).toEqual([true, true, false]);
    expect([moves('b'), moves('b')]).toEqual([true, false]);
    expect([moves('c'), moves('d'), moves('e')]).toEqual([true, true, true]);
    slots.release('a', 'step');
    slots.release('a', 'call');
    expect(slots.inUse).toBe(6);
  });

  test('one that keeps its slot counts against the tenant that has it', () => {
    const slots = slotsOf(8, 2, 1);
    pumped(slots, ['a', 1]);
    expect(slots.moveToCalls('a')).toBe(true);
    pumped(slots, ['a', 2]);
    expect(slots.moveToCalls('a')).toBe(false);
    expect(pumped(slots, ['a', 1])).toEqual([]);
    expect(pumped(slots, ['b', 2])).toEqual(['b', 'b']);
  });
});
