import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CommitQueue, DEFAULT_LIMITS, guaranteedShare, type Waiting } from './commit-queue.ts';
import type { LogEntry } from './entry.ts';

/** Returns an entry with this number of rows; the id of its run identifies it. */
function waitingEntry(tenantId: string, rows: number, runId = ''): Waiting {
  const entry: LogEntry = {
    runId,
    rows: Array.from({ length: rows }, (_, index) => ({
      seq: index + 1,
      type: 'step_started',
      step: 'a',
      attempt: 1,
      json: '{}',
      at: 0,
    })),
    payloads: [],
    projection: null,
    tasks: [],
    owner: { tenantId, projectId: 'p', workflowId: 'w' },
    startedBy: '',
    usage: [],
  };
  return { entry, bytes: 256 + 130 * rows, resolve: () => undefined, reject: () => undefined };
}

const LIMITS = { ...DEFAULT_LIMITS, queuedRows: 2_560, batchRows: 80, quantumRows: 10 };
const QUANTUM = LIMITS.quantumRows;

/** Adds entries of a tenant until its share is used up; returns their rows. */
function fill(queue: CommitQueue, tenantId: string, rows = 10): number {
  let added = 0;
  for (; queue.hasRoom(tenantId); added += rows) queue.add(waitingEntry(tenantId, rows));
  return added;
}

const rowsOf = (batch: readonly Waiting[], tenantId: string): number =>
  batch.filter(({ entry }) => entry.owner.tenantId === tenantId).reduce((sum, { entry }) => sum + entry.rows.length, 0);

function settle(queue: CommitQueue, batch: readonly Waiting[]): void {
  for (const each of batch) queue.settled(each);
  queue.notify();
}

describe('shares', () => {
  test('one tenant fills half of the queue, two fill two thirds, and the next one always finds room', () => {
    const queue = new CommitQueue(LIMITS);
    expect(fill(queue, 'a')).toBe(1_280);
    expect(fill(queue, 'b')).toBeLessThanOrEqual(640 + 10);
    for (const tenant of ['c', 'd', 'e', 'f', 'g', 'h']) expect(fill(queue, tenant)).toBeGreaterThan(0);
    expect(queue.hasRoom('newcomer')).toBe(true);
  });

  test('each tenant gets its guaranteed share of a full queue, and no more', () => {
    const queue = new CommitQueue(LIMITS);
    queue.add(waitingEntry('a', 3_000));
    expect(queue.hasRoom('a')).toBe(false);
    expect(fill(queue, 'b', 1)).toBe(guaranteedShare(LIMITS).rows);
  });

  test('bytes are shared like rows', () => {
    const queue = new CommitQueue({ ...LIMITS, queuedBytes: 100_000 });
    const large = (tenantId: string): Waiting => ({ ...waitingEntry(tenantId, 1), bytes: 10_000 });
    let added = 0;
    for (; queue.hasRoom('a'); added++) queue.add(large('a'));
    expect(added).toBe(5);
    expect(queue.hasRoom('b')).toBe(true);
  });

  test('entries in flight count until their commit; then the tenants that have room again are called back', () => {
    const queue = new CommitQueue(LIMITS);
    fill(queue, 'a');
    const called: string[] = [];
    queue.onRoom('a', () => called.push('a'));
    const batch = queue.take(queue.size);
    queue.notify();
    expect(called).toEqual([]);
    settle(queue, batch);
    expect(called).toEqual(['a']);
    queue.notify();
    expect(called).toEqual(['a']);
  });
});

describe('turns', () => {
  test('an entry of another tenant is in the next batch, however many entries wait', () => {
    const queue = new CommitQueue(LIMITS);
    fill(queue, 'a');
    queue.add(waitingEntry('b', 2));
    const batch = queue.take(queue.size);
    expect(rowsOf(batch, 'b')).toBe(2);
    expect(rowsOf(batch, 'a')).toBe(QUANTUM);
  });

  test('a tenant fills its batches while no other one is present', () => {
    const queue = new CommitQueue(LIMITS);
    fill(queue, 'a');
    expect(rowsOf(queue.take(queue.size), 'a')).toBe(LIMITS.batchRows);
  });

  test('a tenant writes a quantum at a time while another one was present recently', () => {
    const queue = new CommitQueue(LIMITS);
    queue.add(waitingEntry('b', 1));
    settle(queue, queue.take(1));
    fill(queue, 'a', 1);
    // The batch with the entry of the other tenant was the first of 64.
    for (let batches = 1; batches < 64; batches++) {
      const batch = queue.take(queue.size);
      expect(rowsOf(batch, 'a')).toBe(QUANTUM);
      settle(queue, batch);
    }
    expect(rowsOf(queue.take(queue.size), 'a')).toBe(LIMITS.batchRows);
  });

  test('rows beyond the quantum are deducted from the next batches while others wait', () => {
    const queue = new CommitQueue(LIMITS);
    for (let n = 0; n < 5; n++) queue.add(waitingEntry('a', 4 * QUANTUM));
    for (let n = 0; n < 100; n++) queue.add(waitingEntry('b', QUANTUM));
    const sent = Array.from({ length: 9 }, () => rowsOf(queue.take(queue.size), 'a'));
    expect(sent).toEqual([4, 0, 0, 0, 4, 0, 0, 0, 4].map(quanta => quanta * QUANTUM));
  });

  test('a tenant whose entries are all too large does not wait if no other tenant does', () => {
    const queue = new CommitQueue(LIMITS);
    queue.add(waitingEntry('b', 1));
    for (let n = 0; n < 5; n++) queue.add(waitingEntry('a', 4 * QUANTUM));
    expect(rowsOf(queue.take(queue.size), 'b')).toBe(1);
    for (let left = queue.size; left > 0; left--) expect(queue.take(left)).toHaveLength(1);
  });
});

const operations = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        act: fc.constant('add' as const),
        tenant: fc.constantFrom('a', 'b', 'c', 'd'),
        rows: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 10, max: 60 })),
      }),
    },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('take' as const), most: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('settle' as const) }) },
  ),
  { maxLength: 300 },
);

test('no entry is lost or overtaken, no tenant exceeds its share, and none is passed over for long', () => {
  const limits = { ...DEFAULT_LIMITS, queuedRows: 200, batchRows: 40, batchBytes: 40 * 500, quantumRows: 5 };
  const quantum = limits.quantumRows;
  fc.assert(
    fc.property(operations, drawn => {
      const queue = new CommitQueue(limits);
      const inFlight: Waiting[][] = [];
      const order = new Map<string, Waiting[]>();
      const passed = new Map<string, number>();
      let rows = 0;
      const takeBatch = (most: number) => {
        const batch = queue.take(most);
        expect(batch.length).toBeGreaterThan(0);
        if (batch.length > 1)
          expect(batch.reduce((sum, { entry }) => sum + entry.rows.length, 0)).toBeLessThanOrEqual(40);
        for (const each of batch) expect(order.get(each.entry.owner.tenantId)?.shift()).toBe(each);
        for (const [tenant, left] of order) {
          const isIn = batch.some(({ entry }) => entry.owner.tenantId === tenant);
          passed.set(tenant, isIn || left.length === 0 ? 0 : (passed.get(tenant) ?? 0) + 1);
          // The largest entry counts as 60 rows, and three tenants may have their turns before.
          expect(passed.get(tenant)).toBeLessThanOrEqual(Math.ceil(60 / quantum) + 4);
        }
        inFlight.push(batch);
      };
      for (const [index, operation] of drawn.entries()) {
        if (operation.act === 'take' && queue.size > 0) takeBatch(operation.most);
        if (operation.act === 'settle') {
          const batch = inFlight.shift() ?? [];
          for (const { entry } of batch) rows -= entry.rows.length;
          settle(queue, batch);
        }
        if (operation.act !== 'add' || !queue.hasRoom(operation.tenant)) continue;
        const added = waitingEntry(operation.tenant, operation.rows, `r${index}`);
        queue.add(added);
        rows += operation.rows;
        order.set(operation.tenant, [...(order.get(operation.tenant) ?? []), added]);
        expect(rows).toBeLessThanOrEqual(limits.queuedRows + 4 * 60);
      }
      while (queue.size > 0) takeBatch(queue.size);
      for (const batch of inFlight) settle(queue, batch);
      expect([...order.values()].flat()).toEqual([]);
      expect([queue.rows, queue.bytes, queue.size]).toEqual([0, 0, 0]);
      for (const tenant of ['a', 'b', 'c', 'd']) expect(queue.hasRoom(tenant)).toBe(true);
    }),
    { numRuns: 300 },
  );
});
