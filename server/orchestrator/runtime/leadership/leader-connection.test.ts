import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { RunEvent } from '../../core/index.ts';
import { encodeEvent, type LogEntry } from '../../log/index.ts';
import { type LeaderConnection, postgresConnector } from './leader-connection.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

async function open(): Promise<LeaderConnection> {
  const connection = postgresConnector(db.url)();
  await connection.open();
  return connection;
}

const PROJECT = newId();

/** An entry with one event of a run for which nothing else is written. */
function entry(): LogEntry {
  const event: RunEvent = { at: Date.now(), type: 'step_log', step: 'a', attempt: 1, data: { lines: ['x'] } };
  const owner = { tenantId: 'acme', projectId: PROJECT, workflowId: PROJECT };
  const nothing = { payloads: [], projection: null, tasks: [], usage: [], startedBy: '' };
  return { runId: newId(), rows: [encodeEvent(event, 1, [])], owner, ...nothing };
}

const set = async (...settings: string[]) => {
  const name = new URL(db.url).pathname.slice(1);
  for (const setting of settings) await db.pool.query(`ALTER DATABASE ${name} ${setting}`);
};

test('one connection gets the lock, and the next one once that is released or its connection is dropped', async () => {
  const [first, second, third] = [await open(), await open(), await open()];
  const before = await first.tryLock();
  expect(before).toMatchObject({ acquired: true, marked: true, holdsLock: false, readOnly: null });
  expect(await first.check()).toEqual({
    backend: before.backend,
    marked: true,
    holdsLock: true,
    shards: [],
    readOnly: null,
  });
  expect(await second.tryLock()).toMatchObject({ acquired: false, marked: true, holdsLock: false });
  await first.end();
  expect(await second.tryLock()).toMatchObject({ acquired: true });
  // Like behind a pooler that shares backends: the same backend is granted the lock again,
  // and reports that it holds it.
  expect(await second.tryLock()).toMatchObject({ acquired: true, holdsLock: true });
  second.destroy();
  await second.lost;
  await expect.poll(async () => (await third.tryLock()).acquired).toBe(true);
  await third.end();
});

test('in a cluster, sessions share the lock of the leader, and each shard has one holder', async () => {
  const connect = postgresConnector(db.url, { sharded: true });
  const [first, second, alone] = [connect(), connect(), postgresConnector(db.url)()];
  for (const connection of [first, second, alone]) await connection.open();
  expect([await first.tryLock(), await second.tryLock()]).toMatchObject([{ acquired: true }, { acquired: true }]);
  expect(await alone.tryLock()).toMatchObject({ acquired: false });
  expect([await first.lockShard(0), await first.lockShard(5), await second.lockShard(5)]).toEqual([true, true, false]);
  expect(await first.check()).toMatchObject({ holdsLock: true, shards: expect.toSatisfy(isSameSet([0, 5])) });
  await first.unlockShard(5);
  expect(await second.lockShard(5)).toBe(true);
  expect([(await first.check()).shards, (await second.check()).shards]).toEqual([[0], [5]]);
  first.destroy();
  await first.lost;
  await expect.poll(() => second.lockShard(0)).toBe(true);
  await second.end();
  await expect.poll(async () => (await alone.tryLock()).acquired).toBe(true);
  const late = connect();
  await late.open();
  expect(await late.tryLock()).toMatchObject({ acquired: false });
  for (const connection of [alone, late]) await connection.end();
});

const isSameSet = (expected: number[]) => (found: number[]) => found.toSorted().join() === expected.join();

test('a limit that the database sets for all sessions does not end a commit that waits for a lock', async () => {
  await set("SET lock_timeout = '1ms'", "SET statement_timeout = '20s'");
  const connection = await open();
  const holder = await db.pool.connect();
  await holder.query('BEGIN; SET LOCAL lock_timeout = 0; LOCK TABLE run_events');
  const committed = connection.commit([entry()]);
  const waiting = "SELECT FROM pg_locks WHERE relation = 'run_events'::regclass AND NOT granted";
  await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(1);
  await holder.query('COMMIT');
  holder.release(true);
  await committed;
  await set('RESET ALL');
  await connection.end();
});

test('a database that is set to read-only is recognized', async () => {
  await set('SET default_transaction_read_only = on');
  const connection = await open();
  expect(await connection.tryLock()).toMatchObject({ readOnly: 'setting' });
  await connection.end();
  const client = await db.pool.connect();
  await client.query('SET default_transaction_read_only = off');
  await client.query(`ALTER DATABASE ${new URL(db.url).pathname.slice(1)} RESET ALL`);
  client.release();
});
