import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../log/index.ts';
import type { LiveRun } from './live-run.ts';
import { TurnQueue } from './turn-queue.ts';

const LIMITS = { ...DEFAULT_LIMITS, batchRows: 80, quantumRows: 10 };

type NamedRun = LiveRun & { readonly name: string };

/** A queue whose runs append `rows` in each turn, and an event loop that the test turns. */
function createTurns(rows: number) {
  const full = new Set<string>();
  const whenRoom = new Map<string, () => void>();
  const deferred: (() => void)[] = [];
  let resting: (() => void)[] = [];
  const turns: string[] = [];
  const log = {
    isShared: false,
    hasRoom: (tenant: string) => !full.has(tenant),
    onRoom: (tenant: string, listener: () => void) => void whenRoom.set(tenant, listener),
  };
  const queue: TurnQueue = new TurnQueue(LIMITS, {
    log,
    defer: callback => void deferred.push(callback),
    ownTurn: callback => void resting.push(callback),
    takeTurn: run => {
      turns.push((run as NamedRun).name);
      queue.appended(run.tenantId, rows);
    },
    visited: () => undefined,
  });
  return {
    log,
    full,
    queue,
    /** Queues runs named after the tenant, from 1. */
    add: (tenantId: string, count: number) => {
      const runs = Array.from(
        { length: count },
        (_, index) => ({ tenantId, name: `${tenantId}${index + 1}` }) as NamedRun,
      );
      for (const run of runs) queue.add(run, false);
      return runs;
    },
    makeRoom: (tenant: string) => {
      full.delete(tenant);
      whenRoom.get(tenant)?.();
    },
    /** Turns the event loop once; returns the runs that had their turn. */
    turn: (): string => {
      for (const act of deferred.splice(0)) act();
      return turns.splice(0).join(' ');
    },
    /** Ends the rest of the tenants that have used up their quanta; returns the runs that had their turn. */
    rested: (): string => {
      const rests = resting;
      resting = [];
      for (const end of rests) end();
      for (const act of deferred.splice(0)) act();
      return turns.splice(0).join(' ');
    },
  };
}

test('tenants take turns; while several are present, a turn of the event loop decides a quantum of each', () => {
  const { add, turn, rested } = createTurns(3);
  add('a', 40);
  add('b', 3);
  expect(turn()).toBe('a1 b1 a2 b2');
  // Both rest.
  expect(turn()).toBe('');
  expect(rested()).toBe('a3 b3 a4');
  // From here on it is the only tenant, and decides as much as a batch takes.
  expect(rested().split(' ')).toHaveLength(16);
  expect(turn().split(' ')).toHaveLength(16);
});

test('while one tenant rests, the others have their turns', () => {
  const { add, turn, rested } = createTurns(6);
  add('a', 40);
  add('b', 1);
  expect(turn()).toBe('a1 b1 a2');
  add('b', 1);
  add('c', 1);
  expect(turn()).toBe('b1 c1');
  expect(rested().split(' ')).toHaveLength(10);
});

test('a shutdown ends the rests, and decides everything', () => {
  const { add, queue, turn, rested } = createTurns(6);
  add('a', 4);
  add('b', 1);
  expect(turn()).toBe('a1 b1 a2');
  expect(queue.isVisitDue).toBe(false);
  queue.endRests();
  expect(queue.isVisitDue).toBe(true);
  expect(turn()).toBe('a3 a4');
  expect(rested()).toBe('');
});

test('a tenant that is alone among those that decide has a quantum if others write', () => {
  const { add, turn, rested, log } = createTurns(8);
  add('a', 100);
  expect(turn().split(' ')).toHaveLength(8);
  log.isShared = true;
  expect(turn()).toBe('a9');
  expect(turn()).toBe('');
  expect(rested()).toBe('a10');
  expect(rested()).toBe('a11');
});

test('a tenant without room waits for it, and no other one does', () => {
  const { add, turn, full, makeRoom } = createTurns(1);
  full.add('a');
  add('a', 2);
  add('b', 2);
  expect(turn()).toBe('b1 b2');
  expect(turn()).toBe('');
  makeRoom('a');
  expect(turn()).toBe('a1 a2');
});

test('an urgent run comes before the others of its tenant, and has one turn', () => {
  const { queue, add, turn } = createTurns(100);
  const third = add('a', 3)[2];
  if (third === undefined) throw new Error('three runs were added');
  queue.add(third, true);
  expect([turn(), turn(), turn(), turn()]).toEqual(['a3', 'a1', 'a2', '']);
});

test('no run has a turn once the queue is closed', () => {
  const { queue, add, turn } = createTurns(1);
  const runs = add('a', 3);
  expect(queue.close()).toEqual(runs);
  add('a', 1);
  expect(turn()).toBe('');
});
