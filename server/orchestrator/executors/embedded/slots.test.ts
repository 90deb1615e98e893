import { expect, test } from 'vitest';
import { type Claimant, Slots } from './slots.ts';

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

test('slots go round across tenants, whoever came first', () => {
  const order: string[] = [];
  const slots = new Slots(6, 6);
  slots.offer(claimant('a', 100, order));
  slots.offer(claimant('b', 2, order));
  slots.offer(claimant('c', 100, order));
  slots.pump();
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  slots.release('a');
  slots.release('a');
  slots.release('b');
  slots.pump();
  expect(order.slice(6)).toEqual(['a', 'c', 'a']);
});

test('within a tenant they go round across its runs', () => {
  const order: string[] = [];
  const slots = new Slots(4, 4);
  slots.offer(claimant('a', 10, order, 'first'));
  slots.offer(claimant('a', 10, order, 'second'));
  slots.pump();
  expect(order).toEqual(['first', 'second', 'first', 'second']);
});

test.each([
  [1, 1],
  [3, 3],
  [4, 3],
])('a tenant that wants %i gets %i of its 3, and leaves the rest to others', (wanted, granted) => {
  const order: string[] = [];
  const slots = new Slots(10, 3);
  slots.offer(claimant('a', wanted, order));
  slots.pump();
  expect(order).toHaveLength(granted);
  slots.offer(claimant('b', 1, order));
  slots.pump();
  expect(order.at(-1)).toBe('b');
  if (wanted > granted) {
    slots.release('a');
    slots.pump();
    expect(order.at(-1)).toBe('a');
  }
});

test('a run that no longer wants costs nobody a slot', () => {
  const order: string[] = [];
  const slots = new Slots(1, 1);
  slots.offer(claimant('a', 0, order));
  slots.offer(claimant('b', 1, order));
  slots.pump();
  expect(order).toEqual(['b']);
  expect(slots.inUse).toBe(1);
});

test('a run that no longer wants costs its tenant no turn', () => {
  const order: string[] = [];
  const slots = new Slots(2, 2);
  slots.offer(claimant('a', 0, order, 'stopped'));
  slots.offer(claimant('a', 1, order));
  slots.offer(claimant('b', 5, order));
  slots.pump();
  expect(order).toEqual(['a', 'b']);
});
